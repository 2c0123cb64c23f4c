"""The headers under which a stranger's file may be opened in a browser: it runs nothing.

Without them it would be a page of this site, with its logins.
"""

NOT_SNIFFED = ("X-Content-Type-Options", "nosniff")
HARMLESS = [("Content-Security-Policy", "default-src 'none'; sandbox"), NOT_SNIFFED]
