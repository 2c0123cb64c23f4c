"""Webmention (W3C recommendation, 2017): pages that posts link to are notified; pages that link to
a post may notify us, and are shown once the author agrees. Pages are read in a confined process.
"""
