"""Webmention (W3C recommendation, 2017): pages that posts link to are told; pages that link to a
post may tell us, and wait for the author. What stands elsewhere is read in a confined process.
"""
