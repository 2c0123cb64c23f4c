"""Push: WebSub hubs and an rssCloud server are told of new content through a stored outbox.

A build queues what is to be sent in its own transaction; the scheduler process sends it. Nobody is
told of a new ttl or of a minor edit, and no author waits for a hub.
"""
