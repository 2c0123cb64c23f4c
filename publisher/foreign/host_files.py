"""Files that tell hosts of static sites which headers to send: our lines for one feed in them.

All other content of such a file stays; our lines are between two marks, and are replaced.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from publisher.dynamic_ttl.validators import SHARED_MAX_AGE_SECONDS

BEGIN = "# begin of what `publisher stamp` says of {}"
END = "# end of what `publisher stamp` says of {}"


class HostFile(NamedTuple):
    """A host's file (below the site's root), and its lines for (path, media type, max-age)."""

    name: str
    lines: Callable[[str, str, int], list[str]]


def _underscore_headers(path: str, kind: str, max_age_seconds: int) -> list[str]:
    return [
        path,
        f"  Cache-Control: public, max-age={max_age_seconds}",
        f"  CDN-Cache-Control: max-age={SHARED_MAX_AGE_SECONDS}",
        f"  Content-Type: {kind}; charset=utf-8",
    ]


def _cloudflare(path: str, kind: str, max_age_seconds: int) -> list[str]:
    # Cloudflare joins the values of all matching rules, so those of others are removed first.
    removals = ["  ! Cache-Control", "  ! Content-Type"]
    address, *lines = _underscore_headers(path, kind, max_age_seconds)
    return [address, *removals, *lines]


def _nginx(path: str, kind: str, max_age_seconds: int) -> list[str]:
    # Not `add_header`: one here would disable all those of the server block.
    return [
        f"location = {path} {{",
        "    types { }",
        f"    default_type {kind};",
        f"    expires {max_age_seconds}s;",
        "}",
    ]


def _apache(path: str, kind: str, max_age_seconds: int) -> list[str]:
    # Not `<Files>`: it matches every file of that name, and Hugo writes an index.xml for each tag.
    return [
        f"<If \"%{{REQUEST_URI}} == '{path}'\">",
        f"    ForceType {kind}",
        "    <IfModule mod_headers.c>",
        f'        Header set Cache-Control "public, max-age={max_age_seconds}"',
        "    </IfModule>",
        "</If>",
    ]


HOSTS: Mapping[str, HostFile] = MappingProxyType({
    "netlify": HostFile("_headers", _underscore_headers),
    "cloudflare": HostFile("_headers", _cloudflare),
    "nginx": HostFile("feed-headers.nginx.conf", _nginx),
    "apache": HostFile(".htaccess", _apache),
})  # fmt: skip


def with_feed(present: str, host: str, path: str, kind: str, max_age_seconds: int) -> str:
    """The file `present` of a host with our lines for the feed at `path` in it, once.

    kind: the feed's media type. max_age_seconds: what Cache-Control is to say.
    """
    begin, end = BEGIN.format(path), END.format(path)
    ours = "\n".join([begin, *HOSTS[host].lines(path, kind, max_age_seconds), end])
    block = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    if block.search(present):
        return block.sub(lambda _: ours, present, count=1)
    gap = "" if not present else "\n" if present.endswith("\n") else "\n\n"
    return f"{present}{gap}{ours}\n"
