"""Tests of `publisher.parts.river.polls`."""
