"""The river: a polite aggregator. It imports core and storage, and never Flask.

answer -> memory -> policy -> next poll. `fetching` sends one request in its host's turn, the
library `feed_reading` makes plain values of what came, `polls` plans and stores, `following` is a
person's list; `worker` drives all of it.
"""
