"""Fetching other people's feeds politely over HTTP: no database, no blog.

One guarded GET (`fetch`), the body and headers of its answer (`http_response`), and what they say
about time (`answers`); `addresses` are checked and grouped by host, `address_book` has DNS.
"""
