"""Feeds of other sites, served here with a ttl that is decided here: `/mirror/NAME.xml`."""
