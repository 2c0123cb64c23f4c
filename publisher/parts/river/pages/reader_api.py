"""The Google Reader API, as FreshRSS and Miniflux offer it, for reading the river in apps.

`/accounts/ClientLogin` takes an author's name and, as the password, a token with the scope `river`
(an app password), which is in every further request. Here are login, subscriptions and their
folders; items are in `reader_api_items`.
"""

from itertools import zip_longest

from flask import Blueprint, Response, g, jsonify, make_response, request
from sqlalchemy.orm import Session

from publisher.base.errors import Conflict, InvalidInput, NotFound, PublisherError
from publisher.blog.members import permissions, tokens
from publisher.feed_fetching.addresses import tidy_url
from publisher.parts.river import service
from publisher.parts.river.following import streams, subscriptions
from publisher.parts.river.following.streams import LABEL, READING_LIST, STARRED, STATE
from publisher.parts.river.tables import RiverFeed
from publisher.storage.tables.credentials import Author
from publisher.web.context import bearer_of, now, sent_token, site

blueprint = Blueprint("reader_api", __name__)

SCOPE = "river"
MOST_AT_ONCE = 100  # feeds in one request, which holds the database for all of them


class BadLogin(PublisherError):
    """The name and the token do not match, or the token lacks the scope `river`."""

    http_status = 401


@blueprint.route("/accounts/ClientLogin", methods=["GET", "POST"])
def log_in() -> Response:
    """Check name and app password; the token in the answer is the app password itself."""
    name, secret = request.values.get("Email", ""), request.values.get("Passwd", "")
    person = _owner(secret)
    if person.name.casefold() != name.strip().casefold():  # phones begin with a capital
        raise BadLogin("BadAuthentication")
    lines = (f"{key}={secret}" for key in ("SID", "LSID", "Auth"))
    return plain("\n".join(lines) + "\n")


@blueprint.before_request
def check_token() -> None:
    """Every address but that of the login is for an author's program, known by its token."""
    if not (request.endpoint or "").endswith(".log_in"):
        g.reader = _owner(sent_token("googlelogin").removeprefix("auth="))


def reader() -> Author:
    """The author whose program asks."""
    author: Author = g.reader
    return author


@blueprint.get("/reader/api/0/token")
def edit_token() -> Response:
    """The token that programs send with changes; without cookies its value need not be checked."""
    return plain(f"{reader().id:057d}")


@blueprint.get("/reader/api/0/user-info")
def user_info() -> Response:
    """Whose account it is."""
    number = str(reader().id)
    return jsonify(userId=number, userName=reader().name, userProfileId=number, userEmail="")


@blueprint.get("/reader/api/0/preference/list")
@blueprint.get("/reader/api/0/preference/stream/list")
def preferences() -> Response:
    """None: programs keep their preferences themselves."""
    return jsonify(prefs=[], streamprefs={})


@blueprint.errorhandler(PublisherError)
def refuse(error: PublisherError) -> Response:
    """An error as one line of text, because these programs show nothing else."""
    answer = make_response(plain(f"Error={error}\n"), error.http_status)
    if error.http_status == 401:
        answer.headers["WWW-Authenticate"] = "GoogleLogin"
    return answer


@blueprint.after_request
def keep_private(response: Response) -> Response:
    """Forbid caching, because answers show what somebody reads."""
    response.headers["Cache-Control"] = "private, no-store"
    return response


def plain(text: str) -> Response:
    """A plain-text answer."""
    return Response(text, content_type="text/plain; charset=utf-8")


def _owner(secret: str) -> Author:
    token = bearer_of(secret) if secret else None
    if token is None or not tokens.allows(token, SCOPE):
        raise BadLogin("BadAuthentication")
    return token.author


@blueprint.get("/reader/api/0/subscription/list")
def listed() -> Response:
    """All feeds, each with its folder."""
    with site().database.read() as db:
        feeds = subscriptions.with_items(db)
    return jsonify(subscriptions=[_entry(feed) for feed in feeds])


def _entry(feed: RiverFeed) -> dict[str, object]:
    folder = feed.folder
    return {
        "id": f"feed/{feed.id}",
        "title": feed.title or feed.url,
        "categories": [{"id": LABEL + folder, "label": folder, "type": "folder"}] if folder else [],
        "sortid": f"{feed.id:08x}",
        "firstitemmsec": str(int(feed.added_at.timestamp() * 1000)),
        "url": feed.url,
        "htmlUrl": feed.site_url or feed.url,
        "iconUrl": "",
    }


@blueprint.post("/reader/api/0/subscription/edit")
def edit_subscription() -> Response:
    """Follow, rename, move to a folder, or stop following; several feeds with `s`, `t` in turn."""
    values = request.values
    names = [name for name in values.getlist("s") if name]
    if not names:
        raise InvalidInput("s: a feed is needed")
    if len(names) > MOST_AT_ONCE:
        raise InvalidInput(f"s: at most {MOST_AT_ONCE} feeds at once")
    titles = values.getlist("t")[: len(names)]
    with site().database.write() as db:
        for name, title in zip_longest(names, titles, fillvalue=""):
            _edit(db, values.get("ac", ""), name, title)
    return plain("OK")


def _edit(db: Session, action: str, name: str, title: str) -> None:
    if action == "unsubscribe":
        permissions.check_remove_feed(reader())
        subscriptions.unsubscribe(db, streams.feed_of(db, name))
        return
    if action == "subscribe":
        feed = _followed(db, name)
    elif action == "edit":
        feed = streams.feed_of(db, name)
    else:
        raise InvalidInput("ac: must be subscribe, unsubscribe or edit")
    if title:
        subscriptions.rename(feed, title)
    if folder := streams.folder_of(request.values.get("a", "")):
        feed.folder = folder
    elif feed.folder and feed.folder == streams.folder_of(request.values.get("r", "")):
        feed.folder = ""


def _followed(db: Session, name: str) -> RiverFeed:
    """The feed of an address, followed if it was not; its first poll is done by the scheduler."""
    try:
        return streams.feed_of(db, name)
    except NotFound:
        address, secret = tidy_url(name.removeprefix("feed/"))
        return subscriptions.subscribe(db, address, now(), now(), credentials=secret)


@blueprint.post("/reader/api/0/subscription/quickadd")
def quick_add() -> Response:
    """Follow a feed, or the one that a site announces; the answer contains the error, if any."""
    typed = request.values.get("quickadd", "").removeprefix("feed/")
    try:
        feed = service.on_demand(site()).add(typed, choose_first=True)
    except Conflict:
        with site().database.read() as db:
            feed = subscriptions.named(db, typed)
    except PublisherError as error:
        return jsonify(query=typed, numResults=0, error=str(error))
    return jsonify(
        query=typed, numResults=1, streamId=f"feed/{feed.id}", streamName=feed.title or feed.url
    )


@blueprint.get("/reader/api/0/tag/list")
def tags() -> Response:
    """The states that items can have, and the folders."""
    with site().database.read() as db:
        folders = sorted({feed.folder for feed in subscriptions.with_items(db) if feed.folder})
    states = [{"id": STATE + name} for name in (STARRED, READING_LIST)]
    return jsonify(tags=states + [{"id": LABEL + name, "type": "folder"} for name in folders])


@blueprint.post("/reader/api/0/rename-tag")
def rename_tag() -> Response:
    """Rename a folder; those inside it are labels of their own."""
    new = streams.folder_of(request.values.get("dest", ""))
    if not new:
        raise InvalidInput("dest: the new label is needed")
    return _moved(new)


@blueprint.post("/reader/api/0/disable-tag")
def disable_tag() -> Response:
    """Dissolve a folder: its feeds stay."""
    return _moved("")


def _moved(to: str) -> Response:
    named = request.values.get("s") or LABEL + request.values.get("t", "")
    folder = streams.folder_of(named)
    with site().database.write() as db:
        if not folder or not subscriptions.move_folder(db, folder, to):
            raise NotFound("there is no such label")
    return plain("OK")
