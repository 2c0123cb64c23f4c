"""Addresses that programs read and call: feeds, sitemap, media, metrics, mirrors, IndieAuth."""
