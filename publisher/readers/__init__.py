"""Who reads: polls are counted in memory, written in batches, folded into small tables, reported.

A request only appends to a queue; hashing, parsing and storing happen in a thread beside it and
in the scheduler process. Addresses are never stored.
"""
