"""The Google Reader API, as FreshRSS and Miniflux offer it: apps read along, the river polls.

`/accounts/ClientLogin` takes an author's name and, as the password, a token with the scope `river`
(an app password). `client_login` says who asks; what is sent and brought stands in `subscription`,
`stream` and `marks`.
"""

from publisher.web.reader_api import marks, stream, subscription
from publisher.web.reader_api.client_login import blueprint

__all__ = ["blueprint", "marks", "stream", "subscription"]
