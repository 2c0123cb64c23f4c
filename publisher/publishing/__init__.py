"""Publishing: posts become feed documents, the documents are stored, and hubs are notified.

It reads posts and renders feeds; `blog` and `feeds` do not know each other.
"""
