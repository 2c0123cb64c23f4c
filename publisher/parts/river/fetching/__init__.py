"""A poll is sent: whose turn it is (hosts, machines), one polite GET, and its answer."""
