"""Micropub (W3C): programs create, update and delete posts with an API token.

What a program publishes has no undo window: it enters the feed at once. These addresses take no
cookie, so they need no CSRF token. `access` says who asks, `asked` what, `entry` what that means as
a post, `uploads` which files came along, and `views` does it.
"""

from publisher.web.micropub.views import blueprint

__all__ = ["blueprint"]
