"""The Google Reader API, as FreshRSS and Miniflux offer it, for reading the river in apps.

`/accounts/ClientLogin` takes an author's name and, as the password, a token with the scope `river`
(an app password). `client_login` authenticates; the endpoints are in `subscription` and
`stream_items`.
"""

from publisher.web.reader_api import stream_items, subscription
from publisher.web.reader_api.client_login import blueprint

__all__ = ["blueprint", "stream_items", "subscription"]
