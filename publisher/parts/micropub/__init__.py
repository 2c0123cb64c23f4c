"""Micropub (W3C): programs create, update and delete posts with an API token.

What a program publishes has no undo window: it enters the feed at once. These addresses take no
cookie, so they need no CSRF token. `views` reads what is asked for and carries it out, `entry`
turns it into a post's content. By IndieAuth (`indieauth`, `codes`) a program gets its token.
"""
