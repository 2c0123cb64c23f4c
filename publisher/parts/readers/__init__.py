"""Reader statistics: polls are counted in memory, stored in batches, folded into small tables.

A request only appends to a queue; hashing, parsing and storing happen in a thread beside it and
in the scheduler process. IP addresses are never stored.
"""
