"""What was fetched is read: feeds, pages that announce them, lists of feeds, as plain values."""
