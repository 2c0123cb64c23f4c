"""Tests of `publisher.feed_reading`."""
