"""How large the body of a request may be, by its path: the server takes no more of it."""

from publisher.blog.media import MAX_BYTES

# The largest upload and its form around it; the form's own texts may be as long as a post.
UPLOAD_BYTES = MAX_BYTES + 8 * 1024 * 1024
TEXT_BYTES = 8 * 1024 * 1024  # a million characters as a browser sends them in the worst case
CALL_BYTES = 16 * 1024 * 1024  # a picture in base64 within a call, parsed before its token is seen
MOVING_BYTES = 128 * 1024 * 1024  # a whole blog that comes in; what is larger comes by command
FORM_BYTES, LOGIN_BYTES = 256 * 1024, 16 * 1024

_BY_PREFIX = (
    ("/studio/login", LOGIN_BYTES),
    ("/setup/", LOGIN_BYTES),
    ("/studio/media", UPLOAD_BYTES),
    ("/micropub", UPLOAD_BYTES),
    ("/xmlrpc", CALL_BYTES),
    ("/studio/moving/import", MOVING_BYTES),
    ("/studio/", TEXT_BYTES),
    ("/river/import", TEXT_BYTES),
    ("/mirror/", TEXT_BYTES),  # a hub sends whole documents
)


def body_limit(path: str) -> int:
    """The most bytes that a body sent to `path` may have."""
    for prefix, limit in _BY_PREFIX:
        if path.startswith(prefix):
            return limit
    return FORM_BYTES
