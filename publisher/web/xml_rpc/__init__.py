"""XML-RPC: MetaWeblog, Blogger, Movable Type and WordPress calls, as desktop editors make them.

`values` reads and writes the documents, `entries` converts structs and posts, `methods` and
`wordpress` are the calls, and `calls` is the address that dispatches them. Cookies are
ignored; an API token is given as the password.
"""
