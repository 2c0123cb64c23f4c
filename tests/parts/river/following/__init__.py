"""Tests of `publisher.parts.river.following`."""
