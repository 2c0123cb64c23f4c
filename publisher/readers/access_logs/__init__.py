"""Polls that somebody else answered (a cache, a CDN, a web server), counted from their logs.

Each line counts once: what was counted and how far a file was read are one transaction, and a file
is known by its first bytes, whatever it is called after a rotation.
"""
