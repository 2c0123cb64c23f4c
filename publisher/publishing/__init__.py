"""Publishing: posts become feed documents, the documents are kept, and others are told.

The only room that both reads posts and renders feeds.
"""
