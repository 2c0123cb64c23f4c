"""The river's subscriptions: adding, removing, and a page for each with its state and next poll."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from flask import (
    Blueprint,
    Response,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from sqlalchemy.orm import Session

from publisher.base.errors import InvalidInput, PublisherError
from publisher.base.text import counted, sentence, whole_number
from publisher.blog.members import permissions
from publisher.dynamic_ttl.core.polling import RULES
from publisher.dynamic_ttl.core.replay.coming_hours import day_hours, ttl_by_hour
from publisher.dynamic_ttl.core.specs import SpecError
from publisher.dynamic_ttl.core.ttl.activity import Activity, fold
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.parts.river import service
from publisher.parts.river.following import (
    opml,
    public_feeds,
    reading_list,
    subscription_lists,
    subscriptions,
)
from publisher.parts.river.following.subscription_lists import FeedQuery
from publisher.parts.river.observe import OBSERVED, SUMMARY
from publisher.parts.river.polls import feed_remarks, moves, on_demand
from publisher.parts.river.polls.on_demand import NothingThere, SeveralFeeds
from publisher.parts.river.polls.schedule import DEAD_AFTER, dead_for
from publisher.parts.river.stored import item_store
from publisher.parts.river.tables import RiverFeed
from publisher.web.context import done, me, now, settings, site
from publisher.web.day_strip import Day, bars, minute_of_day
from publisher.web.page_answers import cacheable

blueprint = Blueprint("feeds", __name__)

_PROBLEMS_NAMED = 10


@blueprint.get("/river/feeds")
def page() -> str:
    """All feeds with their state; adding, import and export."""
    return subscriptions_page({}, {})


@blueprint.post("/river/feeds")
def add() -> Any:
    """Follow a feed, or the one a site announces."""
    typed = {name: request.form.get(name, "").strip() for name in ("url", "folder", "policy")}
    try:
        feed = service.on_demand(site()).add(
            typed["url"],
            folder=typed["folder"],
            policy=typed["policy"],
            anyway=request.form.get("anyway") == "1",
        )
    except SeveralFeeds as choice:
        return subscriptions_page(typed, {}, choice.feeds), 300
    except (PublisherError, SpecError) as error:
        typed |= {"anyway": "1"} if isinstance(error, NothingThere) else {}
        place = "policy" if isinstance(error, SpecError) else "url"
        return subscriptions_page(typed, {place: str(error)}), 422
    with site().database.read() as db:
        brought = subscriptions.size(db, feed)
    and_its = f" and the {brought} feeds that it names" if feed.is_list else ""
    unread = ", but it could not be read yet" if feed.problem else ""
    flash(f"Following {feed.title or feed.url}{and_its}{unread}.", "" if unread else "done")
    return redirect(url_for(".feed", feed_id=feed.id))


@blueprint.post("/river/feeds/shown")
def show_folder() -> Any:
    """Show a folder's feeds in the blogroll, or hide them."""
    public = request.form.get("public") == "1"
    with site().database.write() as db:
        shown, private = public_feeds.show_folder(db, request.form.get("folder", "")[:200], public)
    left_out = f", {private} left out as private" if private else ""
    return done(f"{counted(shown, 'feed')} shown{left_out}." if public else "Hidden.", ".page")


@blueprint.post("/river/feeds/retry")
def retry() -> Any:
    """Poll all feeds whose last poll failed, each when its host may be asked again."""
    with site().database.write() as db:
        count = on_demand.retry_failed(db, now())
    return done(f"{counted(count, 'feed')} will be tried again within a few seconds.", ".page")


@blueprint.post("/river/feeds/retrieve")
def retrieve_all() -> Any:
    """Retrieve all feeds now, or those of a folder."""
    folder = request.form.get("folder")
    with site().database.write() as db:
        due, left_alone = on_demand.make_all_due(db, now(), service.options(site()), folder)
    spared = (
        f" {counted(left_alone, 'feed is', 'feeds are')} left alone: checked just now, or asked us"
        " to wait."
        if left_alone
        else ""
    )
    return done(f"{counted(due, 'feed')} will be fetched within five minutes.{spared}", ".page")


@blueprint.get("/river/feeds/<int:feed_id>")
def feed(feed_id: int) -> str:
    """One feed: its health, its next poll with the reasons, its day."""
    return _feed_page(feed_id, {})


@blueprint.post("/river/feeds/<int:feed_id>")
def change(feed_id: int) -> Any:
    """Change folder, policy, and whether others may see it."""
    spec = request.form.get("policy", "").strip()
    try:
        with site().database.write() as db:
            row = subscriptions.by_id(db, feed_id)
            public_feeds.show(row, request.form.get("public") == "1")
            row.folder = subscriptions.tidy_folder(request.form.get("folder", ""))
            subscriptions.rename(row, request.form.get("title", row.title))
            if spec != row.policy:
                subscriptions.change_policy(row, spec)
    except SpecError as error:
        return _feed_page(feed_id, {"policy": str(error)}), 422
    return done("Saved.", ".feed", feed_id=feed_id)


@blueprint.post("/river/feeds/<int:feed_id>/<action>")
def act(feed_id: int, action: str) -> Any:
    """Retrieve, pause, resume, accept or undo a move, keep whatever its list says, or remove."""
    try:
        with site().database.write() as db:
            message = _act(db, subscriptions.by_id(db, feed_id), action)
    except PublisherError as error:
        flash(sentence(str(error)), "wrong")
        return redirect(url_for(".feed", feed_id=feed_id))
    if action == "remove":
        return done(message, ".page")
    return done(message, ".feed", feed_id=feed_id)


def _act(db: Session, row: RiverFeed, action: str) -> str:
    if action == "retrieve":
        on_demand.make_due(db, row, now(), service.options(site()))
        return "It will be fetched in its turn, within a few seconds."
    if action == "pause":
        subscriptions.pause(row)
        return "Paused."
    if action == "resume":
        subscriptions.resume(db, row, now())
        return "It will be fetched again."
    if action == "accept-move":
        return f"It is followed at {moves.accept(db, row, now())} now."
    if action == "undo-move":
        return f"Its address is {moves.undo_last(db, row, now())} again."
    if action == "keep":
        row.list_id = None
        return "It stays, even if its list drops it."
    if action == "remove":
        permissions.check_remove_feed(me())
        subscriptions.unsubscribe(db, row)
        return f"No longer following {row.title or row.url}."
    raise InvalidInput(f"there is no action {action[:40]!r}")


def subscriptions_page(
    values: dict[str, str],
    errors: dict[str, str],
    choices: tuple[tuple[str, str], ...] = (),
) -> str:
    wanted = _query()
    with site().database.read() as db:
        rows, total = subscription_lists.page_of(db, wanted)
        failing, failures = subscription_lists.failing(db, _PROBLEMS_NAMED)
        folders = subscription_lists.folders(db)
    return render_template(
        "river/feeds.html",
        room="river",
        feeds=rows,
        total=total,
        query=wanted,
        pages=-(-total // subscription_lists.PAGE),
        filters=subscription_lists.FILTERS,
        sorts=subscription_lists.SORTS,
        folders=folders,
        failing=failing,
        failures=failures,
        dead_for=dead_for,
        dead_after=DEAD_AFTER,
        values=values,
        errors=errors,
        choices=choices,
        policies=_policies(),
        usual_policy=service.options(site()).policy,
        now=now(),
    )


def _query() -> FeedQuery:
    """The filters in the query string; invalid values are ignored."""
    values = request.args
    only, sort = values.get("only", ""), values.get("sort", "")
    return FeedQuery(
        words=values.get("q", "").strip()[:100],
        only=only if only in subscription_lists.FILTERS else "",
        sort=sort if sort in subscription_lists.SORTS else "problems",
        folder=values.get("folder"),
        list_id=whole_number(values.get("list", "")),
        page=whole_number(values.get("page", ""), 99_999) or 0,
    )


def _feed_page(feed_id: int, errors: dict[str, str]) -> str:
    with site().database.read() as db:
        row = subscriptions.by_id(db, feed_id)
        visits = item_store.visits_of(db, feed_id)
        private = public_feeds.why_private(row)
        moments = reading_list.recent_moments(db, feed_id)
        gaps = item_store.gaps_of(db, feed_id)
        past = moves.history(db, feed_id)
        waits = on_demand.told_to_wait_until(db, row)
        of_list = db.get(RiverFeed, row.list_id) if row.list_id is not None else None
        brought = subscriptions.size(db, row)
    return render_template(
        "river/feed.html",
        room="river",
        feed=row,
        visits=visits,
        moves=past,
        gaps=[(gap, item_store.in_words(gap)) for gap in gaps],
        remarks=feed_remarks.shown(row.remarks),
        private=private,
        of_list=of_list,
        brought=brought,
        waits=waits if waits and waits > now() else None,
        day=_day(moments) if len(moments) > 1 else None,
        errors=errors,
        policies=_policies(),
        usual_policy=service.options(site()).policy,
        now=now(),
    )


def _policies() -> list[tuple[str, str]]:
    """The names of the poll policies, and what each means."""
    return [*((rule.name, rule.summary) for rule in RULES.values()), (OBSERVED, SUMMARY)]


def _day(moments: Sequence[datetime]) -> Day:
    """The feed's day strip, in this blog's time zone."""
    zone = settings().timezone
    activity = fold(Activity.empty(zone), moments)
    ttls = ttl_by_hour(activity, now(), TtlRule())
    return Day(bars(day_hours(activity, now()), ttls), zone, minute_of_day(now(), zone))


@blueprint.post("/river/import")
def import_opml() -> Any:
    """Follow every feed of an uploaded OPML file."""
    file = request.files.get("file")
    try:
        if file is None:
            raise InvalidInput("choose an OPML file")
        listed = opml.read_list(file.read())
        with site().database.write() as db:
            added = subscriptions.subscribe_all(db, listed.outlines, now())
    except PublisherError as error:
        return subscriptions_page({}, {"file": str(error)}), 422
    left_out = f", {len(listed.refused)} left out" if listed.refused else ""
    already_there = len(listed.outlines) - added
    sentences = [f"{counted(added, 'feed')} added, {already_there:,} already there{left_out}."]
    return done(" ".join([*sentences, *(remark.sentence for remark in listed.remarks)]), ".page")


@blueprint.get("/opml.xml")
def public_opml() -> Response:
    """The public blogroll: the feeds that the owner shows, the same whether logged in or not."""
    with site().database.read() as db:
        return cacheable(_opml(public_feeds.shown(db), complete=False))


@blueprint.get("/river/opml.xml")
def export_opml() -> Response:
    """The list of all feeds, for another program."""
    with site().database.read() as db:
        answer = _opml(subscriptions.everyone(db), complete=True)
    return make_response(answer, {"Cache-Control": "private, no-store"})


def _opml(feeds: Sequence[RiverFeed], *, complete: bool) -> Response:
    body = opml.write_opml(settings().title, feeds, complete=complete)
    return Response(body, content_type="text/x-opml; charset=utf-8")
