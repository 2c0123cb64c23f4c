"""The whole blog for any WSGI server: `flask --app app run`, gunicorn, granian, waitress.

`create_app` makes it. Importing this module starts nothing; the jobs begin with the first request.
"""

from publisher.operations.any_server import create_app

__all__ = ["create_app"]
