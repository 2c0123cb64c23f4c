"""Items: `/reader/api/0/stream/...` by stream, page by page, and by number; `edit-tag`,
`mark-all-as-read` and `unread-count`, which say what is read and starred.
"""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, jsonify, request
from sqlalchemy.orm import Session

from publisher.base.errors import InvalidInput
from publisher.base.text import whole_number
from publisher.parts.river.following import reading_list, streams, subscriptions
from publisher.parts.river.following.reading_list import ReadingEntry
from publisher.parts.river.following.streams import (
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    STATE,
    StreamQuery,
)
from publisher.parts.river.pages.reader_api import blueprint, plain, reader
from publisher.web.context import now, site

__all__ = ["blueprint", "freshrss"]

_MOST_NUMBERS, _MOST_ITEMS, _MOST_COUNTED = 10_000, 1_000, 1_000_000


@blueprint.get("/reader/api/0/stream/items/ids")
def numbers() -> Response:
    """The numbers of a stream's items."""
    with site().database.read() as db:
        query = _query(db, request.values.get("s", STATE + READING_LIST), _MOST_NUMBERS)
        rows = streams.numbers(db, reader().id, query)
    refs = [
        {
            "id": str(number),
            "directStreamIds": [f"feed/{feed_id}"],
            "timestampUsec": str(_microseconds(moment)),
        }
        for number, feed_id, moment in rows[: query.count]
    ]
    return _page({"itemRefs": refs}, [number for number, _, _ in rows], query)


@blueprint.get("/reader/api/0/stream/contents", defaults={"name": ""})
@blueprint.get("/reader/api/0/stream/contents/<path:name>", merge_slashes=False)
def contents(name: str) -> Response:
    """The items of a stream."""
    stream = name or request.values.get("s", STATE + READING_LIST)
    with site().database.read() as db:
        query = _query(db, stream, _MOST_ITEMS)
        entries = streams.entries(db, reader().id, query)
    answer = _document(stream, entries[: query.count])
    return _page(answer, [entry.item.id for entry in entries], query)


def _page(answer: dict[str, Any], item_ids: list[int], query: StreamQuery) -> Response:
    """The answer, with the place where the next page goes on if more items than fit were read."""
    if len(item_ids) > query.count:
        answer["continuation"] = str(item_ids[query.count - 1])
    return jsonify(answer)


@blueprint.route("/reader/api/0/stream/items/contents", methods=["GET", "POST"])
def by_number() -> Response:
    """Items by their numbers."""
    wanted = item_numbers()[:_MOST_ITEMS]
    with site().database.read() as db:
        entries = streams.by_number(db, reader().id, wanted)
    return jsonify(_document(STATE + READING_LIST, entries))


@blueprint.post("/reader/api/0/edit-tag")
def edit_tag() -> Response:
    """Mark items as read or unread, star or unstar them; InvalidInput for a label, as items have
    none."""
    items = item_numbers()
    if any(streams.folder_of(name) for name in request.values.getlist("a")):
        raise InvalidInput("a: items have no labels here, only feeds have; star the item instead")
    with site().database.write() as db:
        for added, field in ((True, "a"), (False, "r")):
            kinds = {streams.parse_stream(db, name).kind for name in request.values.getlist(field)}
            if "read" in kinds:
                reading_list.mark_many(db, reader().id, items, added)
            if "unread" in kinds and added:
                reading_list.mark_many(db, reader().id, items, read=False)
            if "starred" in kinds:
                reading_list.star_many(db, reader().id, items, added, now())
    return plain("OK")


@blueprint.post("/reader/api/0/mark-all-as-read")
def mark_all() -> Response:
    """Mark the items that a stream had at a moment as read."""
    moment = moment_of(request.values.get("ts", "")) or now()
    with site().database.write() as db:
        stream = streams.parse_stream(db, request.values.get("s", STATE + READING_LIST))
        until = streams.last_until(db, moment)
        if stream.kind != "nothing":
            reading_list.mark_all(db, reader().id, until, stream.view, now())
    return plain("OK")


@blueprint.get("/reader/api/0/unread-count")
def unread() -> Response:
    """The numbers of unread items: by feed, by folder, in all."""
    with site().database.read() as db:
        counts = reading_list.unread_counts(db, reader().id)
        newest = streams.newest_by_feed(db)
        feeds = subscriptions.with_items(db)
    sums: dict[str, tuple[int, int]] = {STATE + READING_LIST: (0, 0)}
    for feed in feeds:
        moment = newest.get(feed.id)
        came = _microseconds(moment) if moment else 0
        places = [f"feed/{feed.id}", STATE + READING_LIST]
        for name in places + ([LABEL + feed.folder] if feed.folder else []):
            count, latest = sums.get(name, (0, 0))
            sums[name] = count + counts.get(feed.id, 0), max(latest, came)
    rows: list[dict[str, Any]] = [
        {"id": name, "count": count, "newestItemTimestampUsec": str(came)}
        for name, (count, came) in sums.items()
    ]
    return jsonify(max=_MOST_COUNTED, unreadcounts=rows)


def item_numbers() -> list[int]:
    """The items that a request names, each once, in order; invalid numbers are ignored."""
    parsed = (streams.item_number(text) for text in request.values.getlist("i"))
    return list(dict.fromkeys(number for number in parsed if number is not None))


def _query(db: Session, stream: str, most: int) -> StreamQuery:
    values = request.values
    return StreamQuery(
        stream=streams.parse_stream(db, stream),
        within=tuple(streams.parse_stream(db, name) for name in values.getlist("it") if name),
        without=tuple(streams.parse_stream(db, name) for name in values.getlist("xt") if name),
        count=min(max(_whole("n") or 20, 1), most),
        oldest_first=values.get("r") == "o",
        after=_whole("c"),
        since=moment_of(values.get("ot", "")),
        until=moment_of(values.get("nt", "")),
    )


def _whole(name: str) -> int | None:
    text = request.values.get(name, "")
    if not text:
        return None
    if (number := whole_number(text, 10**18)) is None:
        raise InvalidInput(f"{name}: a whole number is needed")
    return number


def moment_of(text: str) -> datetime | None:
    """A moment from seconds, milliseconds or microseconds since 1970, told apart by length."""
    if not (number := whole_number(text, 10**17 - 1)):
        return None
    unit = 1_000_000 if len(text) > 14 else 1_000 if len(text) > 11 else 1
    return datetime.fromtimestamp(number / unit, UTC)


def _microseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


def _document(stream: str, entries: list[ReadingEntry]) -> dict[str, Any]:
    return {
        "direction": "ltr",
        "id": stream,
        "title": stream.rpartition("/")[2],
        "updated": int(now().timestamp()),
        "items": [_item(entry) for entry in entries],
    }


def _item(entry: ReadingEntry) -> dict[str, Any]:
    item, feed = entry.item, entry.feed
    link = item.url or feed.site_url
    categories = [STATE + READING_LIST, *item.details.get("categories", [])]
    categories += [LABEL + feed.folder] if feed.folder else []
    categories += [STATE + READ] if entry.read else []
    categories += [STATE + STARRED] if entry.starred else []
    arrived = _microseconds(item.seen_at)
    return {
        "id": streams.long_id(item.id),
        "crawlTimeMsec": str(arrived // 1000),
        "timestampUsec": str(arrived),
        "published": int(item.shown_at.timestamp()),
        "updated": int((item.changed_at or item.shown_at).timestamp()),
        "title": item.title,
        "author": item.author,
        "canonical": [{"href": link}],
        "alternate": [{"href": link, "type": "text/html"}],
        "summary": {"direction": "ltr", "content": item.html},
        "categories": categories,
        "origin": {
            "streamId": f"feed/{feed.id}",
            "title": feed.title or feed.url,
            "htmlUrl": feed.site_url or feed.url,
        },
        "enclosure": [_file(*file) for file in item.enclosures],
    }


def _file(url: str, media_type: str, length: int) -> dict[str, str]:
    return {"href": url, "type": media_type, **({"length": str(length)} if length else {})}


# Programs that are told "FreshRSS" add its path to the address of the site.
freshrss = Blueprint("freshrss", __name__, url_prefix="/api/greader.php")
freshrss.register_blueprint(blueprint)
