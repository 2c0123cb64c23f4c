"""Access logs of web servers and CDNs, read by lines, and the updates that one shows."""
