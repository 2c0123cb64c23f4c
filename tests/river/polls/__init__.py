"""Tests of `publisher.river.polls`."""
