"""XML-RPC: MetaWeblog, Blogger, Movable Type and WordPress calls, as desktop editors make them.

`entries` converts structs and posts, `methods` and `wordpress` are the calls, and `calls` is the
address that dispatches them. Cookies are ignored; an API token is given as the password.
"""
