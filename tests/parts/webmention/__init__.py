"""Tests of Webmention, both ways."""
