"""IndieAuth: programs find this site, ask its author for consent, and get a token for Micropub.

`auth` is the page on which an author agrees, `endpoints` are what programs call before and after
it, `client` is what is known of a program.
"""
