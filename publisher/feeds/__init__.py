"""Feed documents, as values and bytes: RSS, Atom, JSON Feed, and the HTTP answers that carry them.

The same values give the same bytes: nothing here reads a clock, the database or the web framework.
"""
