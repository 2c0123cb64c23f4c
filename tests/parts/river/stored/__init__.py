"""Tests of `publisher.parts.river.stored`."""
