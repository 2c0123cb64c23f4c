"""Delivery: feeds on their way to readers, answered from memory before any page is thought of.

Nothing on the path of a poll asks the database, waits for a page or renders a template.
"""
