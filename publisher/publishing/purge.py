"""Purge requests to a CDN when a feed has changed; they wait in the outbox, like pings to hubs.

Address and secret come from the environment: so the secret is in no backup, no page and no log, and
people who may change settings cannot have it sent elsewhere.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, urlsplit

from sqlalchemy import select
from sqlalchemy.orm import Session

from publisher.base.net import Reply
from publisher.installation import Site, public_address, recall, remember
from publisher.publishing.outbox import PURGE, request_delivery
from publisher.publishing.rebuild import ADDRESSES
from publisher.storage.tables.publishing import Delivery, Snapshot

PURGED = "purged"  # the ETags of the documents at the last purge request


def request_calls(site: Site) -> None:
    """Queue a purge request for each document that has changed since the last call."""
    purge = site.environment.purge
    if purge is None:
        return
    with site.database.read() as session:
        if not _changed(session):
            return
    with site.database.write() as session:
        changed = _changed(session)
        site_url = public_address(session, site.environment)
        topics = [site_url + ADDRESSES.get(name, name) for name in sorted(changed)]
        for topic in topics:
            request_delivery(session, PURGE, purge.template, topic, site.clock())
        remember(session, PURGED, json.dumps({**_purged_etags(session), **changed}))


def send(site: Site, row: Delivery) -> Reply | None:
    """Send a purge request; raises OutgoingError. None if there is no CDN any more.

    In a template with `{host}`, `{path}` or `{url}` these are filled in (Fastly); to any other
    address the document's address is sent as JSON (Cloudflare). Redirects are not followed: the
    secret is for this address alone.
    """
    purge = site.environment.purge
    if purge is None:
        return None
    parts = urlsplit(row.topic)
    named: Mapping[str, str] = {
        "{host}": parts.netloc,
        "{path}": quote(parts.path.lstrip("/")),
        "{url}": quote(row.topic, safe=""),
    }
    address, headers = purge.template, {purge.header: purge.secret}
    for name, value in named.items():
        address = address.replace(name, value)
    body = None
    if address == purge.template:
        headers["Content-Type"] = "application/json"
        body = json.dumps({"files": [row.topic]}).encode()
    reply = site.request(address, method="POST", form=body, headers=headers, redirects=False)
    return replace(reply, body=reply.body.replace(purge.secret.encode(), b"..."))


def _purged_etags(session: Session) -> dict[str, str]:
    etags: dict[str, str] = json.loads(recall(session, PURGED) or "{}")
    return etags


def _changed(session: Session) -> dict[str, str]:
    """The ETags, by document name, that differ from those of the last purge request."""
    purged = _purged_etags(session)
    rows = session.execute(select(Snapshot.name, Snapshot.etag)).all()
    return {name: etag for name, etag in rows if purged.get(name) != etag}
