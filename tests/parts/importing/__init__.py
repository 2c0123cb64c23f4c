"""Formats as golden pairs, and the pipeline that stores them."""
