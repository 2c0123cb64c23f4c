"""Serving: the feeds from memory, a WSGI application in front of Flask for any server.

Nothing on the path of a poll asks the database, waits for a page or renders a template.
"""
