"""Response headers for a stranger's file: opened in a browser, it runs no script.

Without them its scripts would run as this site's, with the visitor's login.
"""

NOT_SNIFFED = ("X-Content-Type-Options", "nosniff")
HARMLESS = [("Content-Security-Policy", "default-src 'none'; sandbox"), NOT_SNIFFED]
