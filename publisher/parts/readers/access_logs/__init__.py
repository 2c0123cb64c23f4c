"""Polls that another server answered (a cache, a CDN, a web server), counted from its log.

Each line counts once: counts and read position are written in one transaction, and a file is
recognised by its first bytes, whatever its name after a rotation.
"""
