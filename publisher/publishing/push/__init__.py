"""Push: WebSub hubs and an rssCloud server are pinged about new content through a stored outbox.

A build queues the pings in its own transaction; the scheduler process sends them, so that no author
waits for a hub. A new ttl or a minor edit causes no ping.
"""
