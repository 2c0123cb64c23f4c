"""`/reader/api/0/edit-tag`, `mark-all-as-read`, `unread-count`: read and starred items."""

from typing import Any

from flask import Response, jsonify, request

from publisher.river.following import reading_list, streams, subscriptions
from publisher.river.following.streams import LABEL, READING_LIST, STATE
from publisher.storage.tables.credentials import Author
from publisher.web.context import now, site
from publisher.web.reader_api.client_login import blueprint, for_reader, plain
from publisher.web.reader_api.stream import item_numbers, moment_of

_MOST_COUNTED = 1_000_000


@blueprint.post("/reader/api/0/edit-tag")
@for_reader
def edit_tag(person: Author) -> Response:
    """Mark items as read or unread, star or unstar them; labels of items are ignored."""
    items = item_numbers()
    with site().database.write() as db:
        for given, field in ((True, "a"), (False, "r")):
            kinds = {streams.parse_stream(db, name).kind for name in request.values.getlist(field)}
            if "read" in kinds:
                reading_list.mark_many(db, person.id, items, given)
            if "unread" in kinds and given:
                reading_list.mark_many(db, person.id, items, read=False)
            if "starred" in kinds:
                reading_list.star_many(db, person.id, items, given, now())
    return plain("OK")


@blueprint.post("/reader/api/0/mark-all-as-read")
@for_reader
def mark_all(person: Author) -> Response:
    """Mark the items that a stream had at a moment as read."""
    moment = moment_of(request.values.get("ts", "")) or now()
    with site().database.write() as db:
        stream = streams.parse_stream(db, request.values.get("s", STATE + READING_LIST))
        until = streams.last_until(db, moment)
        if stream.kind != "nothing":
            reading_list.mark_all(db, person.id, until, stream.view, now())
    return plain("OK")


@blueprint.get("/reader/api/0/unread-count")
@for_reader
def unread(person: Author) -> Response:
    """The numbers of unread items: by feed, by folder, in all."""
    with site().database.read() as db:
        counts = reading_list.unread_counts(db, person.id)
        newest = streams.newest_by_feed(db)
        feeds = subscriptions.with_items(db)
    sums: dict[str, tuple[int, int]] = {STATE + READING_LIST: (0, 0)}
    for feed in feeds:
        moment = newest.get(feed.id)
        came = int(moment.timestamp() * 1_000_000) if moment else 0
        places = [f"feed/{feed.id}", STATE + READING_LIST]
        for name in places + ([LABEL + feed.folder] if feed.folder else []):
            count, latest = sums.get(name, (0, 0))
            sums[name] = count + counts.get(feed.id, 0), max(latest, came)
    rows: list[dict[str, Any]] = [
        {"id": name, "count": count, "newestItemTimestampUsec": str(came)}
        for name, (count, came) in sums.items()
    ]
    return jsonify(max=_MOST_COUNTED, unreadcounts=rows)
