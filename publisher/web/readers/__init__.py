"""`/readers`: who reads and how (`report`), and what other ttls would give them (`simulated`)."""
