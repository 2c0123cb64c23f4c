"""XML-RPC: MetaWeblog, Blogger, Movable Type and WordPress calls, as desktop editors make them.

`values` reads and writes the documents, `caller` says who calls, `entries` what a struct means as a
post, `methods` do what is asked, `calls` is the address. No cookie counts here; the password is a
token.
"""
