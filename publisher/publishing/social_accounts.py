"""The author's accounts at other services, for `source:account`: service and account name."""

from urllib.parse import urlsplit

# Profile addresses: a service's host, and the path before the account name.
_SERVICES = {
    ("github.com", "/"): "github",
    ("gitlab.com", "/"): "gitlab",
    ("codeberg.org", "/"): "codeberg",
    ("x.com", "/"): "twitter",
    ("twitter.com", "/"): "twitter",
    ("bsky.app", "/profile/"): "bluesky",
    ("linkedin.com", "/in/"): "linkedin",
    ("instagram.com", "/"): "instagram",
    ("threads.net", "/@"): "threads",
    ("youtube.com", "/@"): "youtube",
    ("micro.blog", "/"): "micro.blog",
}


def accounts(addresses: str) -> tuple[tuple[str, str], ...]:
    """The accounts among some addresses (the setting `elsewhere`), as (service, name)."""
    return tuple(found for address in addresses.split() if (found := _account(address)))


def _account(address: str) -> tuple[str, str] | None:
    """The account at an address; `/@name` at an unknown host is one of the Fediverse."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host, path = parts.hostname.removeprefix("www."), parts.path.rstrip("/")
    for (place, before), service in _SERVICES.items():
        if host == place:
            name = path.removeprefix(before)
            return (service, name) if path.startswith(before) and _is_name(name) else None
    name = path.removeprefix("/@")
    fediverse = path.startswith("/@") and _is_name(name)
    return ("mastodon", f"@{name}@{host}") if fediverse else None


def _is_name(text: str) -> bool:
    return bool(text) and "/" not in text and text.isprintable()
