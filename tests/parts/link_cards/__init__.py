"""Tests of link cards."""
