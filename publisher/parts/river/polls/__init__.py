"""A poll is planned, and what it brought is stored: items, moves, failures, the next poll."""
