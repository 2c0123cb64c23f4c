"""`/mirror`: the mirrored feeds, and the addresses that receive pings and WebSub messages for them.

`/mirror/N.xml` itself is answered from memory like our own feeds (see `serving.front`). The
addresses here take no cookie: each asks for a secret of its own. An XML-RPC ping has no secret, so
it can only have an origin checked, at most once a minute.
"""

from datetime import timedelta
from hmac import compare_digest

from flask import Blueprint, Response, jsonify, make_response, render_template, request

from publisher.base.encryption import hash_token
from publisher.base.errors import Forbidden, NotFound, StorageUnavailable
from publisher.dynamic_ttl.core.civil import hour_start, seconds, zone_table
from publisher.dynamic_ttl.core.durations import update_rate
from publisher.installation.settings import load_settings
from publisher.parts.mirror import mirror_poll, mirrors
from publisher.parts.mirror.tables import Mirror
from publisher.storage.tables.publishing import Snapshot
from publisher.web.api.xml_rpc_values import answer, read_call
from publisher.web.context import login_required, now, sent_token, site
from publisher.web.rendering import moment

pages = Blueprint("mirror_pages", __name__)
blueprint = Blueprint("mirror", __name__)

MOST_IN_PING = 5  # values: a name, three addresses, a category
_PING_METHODS = ("weblogUpdates.ping", "weblogUpdates.extendedPing")


@pages.get("/mirror")
@login_required
def everyone() -> str:
    """The page of all mirrored feeds: address, present ttl, problems."""
    with site().database.read() as session:
        settings, rows = load_settings(session), []
        for mirror in mirrors.everyone(session):
            shown = session.get(Snapshot, mirror.path)
            rows.append({
                "mirror": mirror,
                "snapshot": shown,
                "address": site().site_url + mirror.path,
                "updates": len(mirrors.history_of(mirror).updates),
                "why": mirror_poll.why(mirror, now(), moment),
            })  # fmt: skip
        return render_template("mirror/everyone.html", rows=rows, settings=settings)


@blueprint.get("/mirror/<name>.xml")
def not_there_yet(name: str) -> Response:
    """503 for a mirror whose origin has not been read; later requests are answered from memory."""
    with site().database.read() as session:
        mirrors.named(session, name)
    raise StorageUnavailable("the origin has not been read yet; try again in a minute")


@blueprint.get("/mirror/<name>/ttl.json")
def ttl(name: str) -> Response:
    """The present ttl as JSON, for a plugin that writes it into the origin's own feed."""
    with site().database.read() as session:
        mirror = mirrors.named(session, name)
        settings = load_settings(session)
        decision = mirrors.decision_of(mirror, settings, now())
        since = mirrors.unchanged_since(mirror, decision, settings)
        shown = session.get(Snapshot, mirror.path)
        problem = mirror.problem
    rate = update_rate(decision.ttl_minutes) or (None, None)
    expiries = decision.expiries
    hour = hour_start(zone_table(decision.zone), seconds(decision.decided_at))
    body = jsonify(
        ttl_minutes=decision.ttl_minutes,
        max_age_seconds=decision.max_age_seconds(now()),
        # For plugins that ask hourly: until when a copy fetched in each five minutes is valid.
        hour_begins_at=hour,
        good_until=list(expiries.instants) if expiries else [],
        update_period=rate[0],
        update_frequency=rate[1],
        valid_until=int(decision.valid_until.timestamp()),
        unchanged_since=int(since.timestamp()),
        reasons=shown.decision["reasons"] if shown else [],
        problem=problem,
    )
    return make_response(body, {"Cache-Control": "public, max-age=60"})


@blueprint.post("/mirror/ping")
def weblog_updates() -> Response:
    """XML-RPC `weblogUpdates.ping`, which WordPress ("update services") and others send."""
    method, values = read_call(request.get_data())
    if method not in _PING_METHODS:
        return _xmlrpc(True, "only weblogUpdates.ping is understood here")
    sent = map(str, values[:MOST_IN_PING])
    addresses = [text for text in sent if text.startswith(("http://", "https://"))]
    with site().database.read() as session:
        names = {mirror.name for url in addresses for mirror in mirrors.pinged(session, url)}
    for name in names:
        _ask(name, "an XML-RPC ping", mirrors.OPEN_GAP)
    return _xmlrpc(not names, "Thanks for the ping." if names else "This is not mirrored here.")


@blueprint.post("/mirror/<name>/ping")
def ping(name: str) -> Response:
    """A ping with the mirror's token: its origin is checked soon."""
    token = sent_token() or request.form.get("token", "")
    with site().database.read() as session:
        token_hash = mirrors.named(session, name).token_hash
    if not token or not compare_digest(hash_token(token), token_hash):
        raise Forbidden("the token of this mirror is needed (publisher mirror add printed it)")
    _ask(name, "a ping with the token")
    return Response("The origin is checked now.\n", 202, content_type="text/plain; charset=utf-8")


def _ask(name: str, by: str, gap: timedelta = mirrors.LEAST_GAP) -> None:
    with site().database.write() as session:
        mirrors.request_poll(mirrors.named(session, name), by, now(), gap)


def _subscribed(name: str, key: str) -> Mirror:
    """The mirror with this name and subscription key; NotFound if they do not match."""
    with site().database.read() as session:
        mirror = mirrors.named(session, name)
        session.expunge_all()
    if not compare_digest(key.encode(), mirror.hub_key.encode()):
        raise NotFound("there is no such subscription")
    return mirror


@blueprint.get("/mirror/<name>/websub/<key>")
def intent(name: str, key: str) -> Response:
    """Verification of intent: the hub asks whether we meant to subscribe."""
    _subscribed(name, key)
    with site().database.write() as session:
        challenge = mirrors.verified(mirrors.named(session, name), request.args, now())
    if challenge is None:
        raise NotFound("this subscription was not requested")
    return Response(challenge, content_type="text/plain; charset=utf-8")


@blueprint.post("/mirror/<name>/websub/<key>")
def content(name: str, key: str) -> Response:
    """The hub announces news; a message without a valid signature is answered 202 and ignored."""
    mirror = _subscribed(name, key)
    if mirrors.signed(mirror, request.headers.get("X-Hub-Signature", ""), request.get_data()):
        _ask(name, f"the hub {mirror.hub_url}")
    return Response("", 202)


def _xmlrpc(error: bool, message: str) -> Response:
    body = answer({"flerror": error, "message": message})
    return Response(body, content_type="text/xml; charset=utf-8")
