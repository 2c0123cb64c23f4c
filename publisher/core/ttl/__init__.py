"""The ttl decision: from the counts of past updates to the minutes that a feed says."""
