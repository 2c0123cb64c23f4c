"""The application factory for `flask run` and WSGI servers. Starts no thread when imported."""

from publisher.web.application import create_app

__all__ = ["create_app"]
