"""The author's accounts elsewhere, as `source:account` names them: a service and a name there."""

from urllib.parse import urlsplit

# Where a service keeps people: its host, and the path before a name.
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
    """Those of some addresses (the setting `elsewhere`) that are a person's at a service."""
    return tuple(found for address in addresses.split() if (found := _account(address)))


def _account(address: str) -> tuple[str, str] | None:
    """`/@name` at a host that is not known is the Fediverse's way to name people."""
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
