"""A person's list: what is followed, shown, read and starred, and polled on demand."""
