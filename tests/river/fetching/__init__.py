"""Tests of `publisher.river.fetching`."""
