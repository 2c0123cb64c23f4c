"""Addresses that programs read and call: feeds, media, metrics, mirrors, notices of links."""
