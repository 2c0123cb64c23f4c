"""The composition root: what `flask run` and any WSGI server load. Starts no thread at import."""

from publisher.web.application import create_app

__all__ = ["create_app"]
