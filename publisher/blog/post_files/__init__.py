"""Files of posts: pictures, documents, episodes; stored once, found again, deleted."""
