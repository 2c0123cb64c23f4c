"""Webmention: pages that posts link to are notified, and pages that link to posts are shown below
them once their author agrees."""
