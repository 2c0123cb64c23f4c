"""Delivery: the HTTP server; feeds are answered from memory, pages are passed on to Flask.

Nothing on the path of a poll asks the database, waits for a page or renders a template.
"""
