"""Micropub (W3C): programs create, update and delete posts with an API token.

What a program publishes has no undo window: it enters the feed at once. These addresses take no
cookie, so they need no CSRF token. `access` checks the token, `request` reads what is asked for and
its files, `entry` turns it into a post's content, `views` carries it out; `program_posts` is for
XML-RPC too.
"""

from publisher.web.micropub.views import blueprint

__all__ = ["blueprint"]
