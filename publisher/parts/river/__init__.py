"""The river: a polite aggregator. Only `pages` imports Flask.

answer -> memory -> policy -> next poll. `fetching` sends one request in its host's turn, the
library `feed_reading` makes plain values of what came, `polls` plans and stores, `following` is a
person's list; `worker` drives all of it.
"""
