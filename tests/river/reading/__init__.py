"""Tests of `publisher.river.reading`."""
