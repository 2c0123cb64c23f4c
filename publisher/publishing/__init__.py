"""Publishing: posts become feed documents, the documents are stored, and hubs are notified.

It reads posts and renders feeds; `blog` and `feeds` do not know each other. WebSub hubs, an
rssCloud server and linked pages are told through a stored outbox: a build queues the messages in
its own transaction; the scheduler process sends them, so that no author waits for a hub. A new ttl
or a minor edit causes no ping.
"""
