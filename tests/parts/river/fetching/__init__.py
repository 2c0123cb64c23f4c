"""Tests of `publisher.parts.river.fetching`."""
