"""Tests of `publisher.river.following`."""
