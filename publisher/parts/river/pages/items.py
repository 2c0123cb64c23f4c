"""The river's items, newest first."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, flash, redirect, render_template, request, url_for

from publisher.base.dates import format_rfc3339
from publisher.base.text import counted, plain_text, shorten, whole_number
from publisher.feed_reading.feed_html import has_remote_media, without_remote_media
from publisher.parts.river.following import reading_list, subscription_lists
from publisher.parts.river.following.reading_list import ReadingEntry, View
from publisher.parts.river.following.subscription_lists import FeedName
from publisher.web.context import full_path, me, now, place_in_list, site, wants_json

blueprint = Blueprint("items", __name__)

EXCERPT_CHARACTERS = 320
_NAMED_AT_ONCE = 60


@blueprint.get("/river")
def page() -> str:
    """Items of all feeds, of a folder, of one feed, or those that match a search."""
    view = _view()
    with site().database.read() as db:
        entries = reading_list.entries(db, me().id, view)
        everyone = subscription_lists.names(db)
        unread = reading_list.unread_counts(db, me().id)
        newest = reading_list.newest_id(db)
        can_undo = reading_list.can_undo(db, me().id, now())
    more = len(entries) > reading_list.PAGE
    entries = entries[: reading_list.PAGE]
    return render_template(
        "river/page.html",
        room="river",
        entries=entries,
        view=view,
        feeds=everyone,
        feed=next((feed for feed in everyone if feed.id == view.feed_id), None),
        folders=_folders(everyone, unread, view),
        can_undo=can_undo,
        unread=unread,
        newest=newest,
        older=_older(entries) if more else None,
        here=full_path(),
        shown=shown,
        excerpt=excerpt,
        has_remote_media=has_remote_media,
        images=request.args.get("images", type=_number),
    )


@blueprint.post("/river/items/<int(max=9223372036854775807):item_id>/read")
def mark(item_id: int) -> Any:
    """Mark one item as read, or as unread."""
    with site().database.write() as db:
        reading_list.item(db, me().id, item_id)
        reading_list.mark_many(db, me().id, [item_id], request.form.get("read") != "0")
    return _marked()


@blueprint.post("/river/items/<int(max=9223372036854775807):item_id>/star")
def star(item_id: int) -> Any:
    """Star one item, or unstar it."""
    with site().database.write() as db:
        reading_list.item(db, me().id, item_id)
        starred = request.form.get("starred") != "0"
        reading_list.star_many(db, me().id, [item_id], starred, now())
    return _marked()


def _marked() -> Any:
    return ("", 204) if wants_json() else redirect(_back())


@blueprint.post("/river/read/undo")
def undo() -> Any:
    """Undo the last "mark all as read"."""
    with site().database.write() as db:
        done = reading_list.undo_mark_all(db, me().id)
    flash("Unread again." if done else "There is nothing to undo.", "done")
    return redirect(_back())


@blueprint.post("/river/read")
def mark_all() -> Any:
    """Mark as read the items that the page showed, and none that arrived later."""
    with site().database.write() as db:
        until = request.form.get("until", 0, type=_number)
        count = reading_list.mark_all(db, me().id, until, _view(), now())
    flash(f"{counted(count, 'item')} marked as read.", "done")
    return redirect(_back())


def shown(entry: ReadingEntry, images: int | None) -> str:
    """An item's HTML; media of other sites are left out unless this item's images are wanted."""
    return entry.item.html if images == entry.item.id else without_remote_media(entry.item.html)


def excerpt(entry: ReadingEntry) -> str:
    """The first words of an item."""
    return shorten(plain_text(entry.item.html), EXCERPT_CHARACTERS)


def _view() -> View:
    """What the address asks for; nonsense in it is ignored."""
    values = request.args
    folder = values.get("folder")
    return View(
        feed_id=values.get("feed", type=_number),
        folder=folder[:200] if folder is not None else None,
        query=values.get("q", "").strip()[:200],
        unread_only=values.get("show") not in ("all", "starred"),
        starred=values.get("show") == "starred",
        by_feed=values.get("by") == "feed",
        before=place_in_list(values.get("before", ""), 2**63 - 1),
    )


def _number(text: str) -> int:
    """The number of a row; ValueError for what can be none."""
    if (number := whole_number(text, 2**63 - 1)) is None:
        raise ValueError(text)
    return number


def _older(entries: list[ReadingEntry]) -> str:
    last = min(entries, key=lambda entry: (entry.item.shown_at, entry.item.id)).item
    values = {**request.args, "before": f"{format_rfc3339(last.shown_at)}~{last.id}"}
    return f"{url_for('river.items.page')}?{urlencode(values)}"


def _back() -> str:
    """The page to return to after a form, if it is a page of the river."""
    target = request.form.get("back", "")
    inside = target.startswith(("/river?", "/river/")) or target == "/river"
    return target if inside else url_for("river.items.page")


def _folders(
    everyone: Sequence[FeedName], unread: dict[int, int], view: View
) -> list[tuple[str, list[FeedName], int]]:
    """Folders, each with its feeds and its unread items, subfolders included.

    Feeds without a folder come first. If there are many feeds, only the open folder's are listed.
    """
    chosen = next((row.folder for row in everyone if row.id == view.feed_id), view.folder)
    grouped: dict[str, list[FeedName]] = {}
    sums: dict[str, int] = {}
    for row in everyone:
        parts = row.folder.split("/")
        for depth in range(len(parts)):
            above = "/".join(parts[: depth + 1])
            grouped.setdefault(above, [])
            sums[above] = sums.get(above, 0) + unread.get(row.id, 0)
        if len(everyone) <= _NAMED_AT_ONCE or row.folder in ("", chosen):
            grouped[row.folder].append(row)
    return [(name, grouped[name], sums[name]) for name in sorted(grouped)]
