"""`/readers`: who reads and how (`report`), and how much it is worth to know the day (`worth`)."""
