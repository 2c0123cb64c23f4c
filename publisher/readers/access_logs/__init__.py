"""Polls that somebody else answered (a cache, a CDN, a web server), counted from their logs.

Each line counts once: counts and read position are written in one transaction, and a file is
recognised by its first bytes, whatever its name after a rotation.
"""
