"""Delivery: HTTP for readers; feeds are answered from memory, pages are handed on to Flask.

Nothing on the path of a poll asks the database, waits for a page or renders a template.
"""
