"""What the test feed answers: a pure function of the time, the request and the tester's address.

Nothing is remembered between requests, so a trace can be answered again at any time: the judge
learns in this way what a reader was told, and the trace has to keep the requests only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from html import escape
from zlib import crc32

from publisher.base.dates import format_rfc822
from publisher.dynamic_ttl.core.validators import http_date, preferred_coding, tags_in
from publisher.feeds.feed_answer import CODINGS, GZIP, gzipped, packed
from publisher.reader_test import script
from publisher.reader_test.script import HOUR, Stretch, WeekPost, stretch_at

_TYPE = ("Content-Type", "application/rss+xml; charset=utf-8")
_NOT_KEPT = ("Cache-Control", "no-store")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True)
class WeekPlace:
    """Where and when a test runs: the tester's address without a slash at its end, and the UTC
    instant at which the week begins, a full hour."""

    address: str
    begins: datetime

    def moment(self, hours: float) -> datetime:
        """The instant of an hour of the test, to the second."""
        return (self.begins + timedelta(hours=hours)).replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class WeekAnswer:
    """One answer. fault: empty; `silent`: no answer is sent and the connection stays open;
    `closed`: none is sent and it closes; `cut`: after a pause only half of the body is sent."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    fault: str = ""

    def header(self, name: str) -> str | None:
        """The value of a header; None if the answer has none of that name."""
        return next((value for known, value in self.headers if known == name), None)


def answer(
    place: WeekPlace, hours: float, method: str, path: str, headers: Mapping[str, str]
) -> WeekAnswer:
    """The answer at an hour of the test. path: relative to the tester's address, with its query;
    headers: names in lower case, with the fields of a subscription."""
    bare = path.partition("?")[0]
    date = ("Date", format_rfc822(place.moment(hours)))
    if method not in ("GET", "HEAD"):
        if method == "POST" and bare in (script.HUB, script.CLOUD):
            return _subscription(bare, subscription_problem(place, bare, headers), date)
        return WeekAnswer(405, (date, ("Allow", "GET, HEAD")))
    served = _get(place, hours, bare, headers)
    body = b"" if method == "HEAD" or served.status == 304 else served.body
    return WeekAnswer(served.status, (*served.headers, date), body, served.fault)


def subscription_problem(place: WeekPlace, path: str, fields: Mapping[str, str]) -> str:
    """What is wrong with a request to the hub (WebSub, 5.1) or the cloud (rssCloud); empty if
    nothing is. said: its form fields, names in lower case."""
    topics = {f"{place.address}/{path}" for path in (*script.FEEDS, script.WRONG_SELF)}
    if path == script.HUB:
        right = {
            "hub.mode": fields.get("hub.mode") in ("subscribe", "unsubscribe"),
            "hub.topic": fields.get("hub.topic") in topics,
            "hub.callback": fields.get("hub.callback", "").startswith(("http://", "https://")),
        }
    else:
        right = {
            "port": fields.get("port", "").isdecimal(),
            "path": fields.get("path", "").startswith("/"),
            "protocol": fields.get("protocol") == "http-post",
            "url1": fields.get("url1") in topics,
        }
    return ", ".join(name for name, fits in right.items() if not fits)


def _subscription(path: str, problem: str, date: tuple[str, str]) -> WeekAnswer:
    """Subscriptions are noted; nothing is ever sent to an address that a stranger names, so a hub
    never verifies them, and a cloud says that there will be no notifications."""
    if problem:
        words = f"missing or wrong: {problem}\n".encode()
        return WeekAnswer(400, (date, _NOT_KEPT, ("Content-Type", "text/plain")), words)
    if path == script.HUB:
        return WeekAnswer(202, (date, _NOT_KEPT))
    words = b'<notifyResult success="false" msg="this test notifies nobody: go on polling"/>'
    return WeekAnswer(200, (date, _NOT_KEPT, ("Content-Type", "text/xml")), words)


def _get(place: WeekPlace, hours: float, path: str, headers: Mapping[str, str]) -> WeekAnswer:
    stretch = stretch_at(hours)
    if path not in script.FEEDS:
        return _page_or_archive(place, path)
    if stretch.status == 410:
        return WeekAnswer(410, (_NOT_KEPT,), b"This feed is gone.\n")
    if move := script.move_at(path, hours):
        return WeekAnswer(move.status, (("Location", f"{place.address}/{move.to}"), _NOT_KEPT))
    if path not in (script.FIRST, script.MOVED) and not _led_to(path, hours):
        return WeekAnswer(404, (_NOT_KEPT,), b"Nothing here.\n")
    if stretch.fault in ("silent", "closed"):
        return WeekAnswer(0, fault=stretch.fault)
    if stretch.status != 200:
        return _refusal(place, hours, stretch)
    return _document_answer(place, hours, stretch, headers)


def _led_to(path: str, hours: float) -> bool:
    """Whether a redirect leads to `path` at that hour."""
    return any(
        (move := script.move_at(source, hours)) and move.to == path for source in script.FEEDS
    )


def _refusal(place: WeekPlace, hours: float, stretch: Stretch) -> WeekAnswer:
    hint: tuple[tuple[str, str], ...] = ()
    if stretch.retry_after is not None:
        later = place.moment(hours + stretch.retry_after / HOUR)
        value = format_rfc822(later) if stretch.retry_as_date else str(stretch.retry_after)
        hint = (("Retry-After", value),)
    words = b"Part of the test: come back later.\n"
    return WeekAnswer(stretch.status, (*hint, _NOT_KEPT, ("Content-Type", "text/plain")), words)


def _document_answer(
    place: WeekPlace, hours: float, stretch: Stretch, headers: Mapping[str, str]
) -> WeekAnswer:
    tag = tag_at(place, hours)
    fixed = [("Vary", "Accept-Encoding"), *_links(place)]
    if tag:
        fixed.append(("ETag", tag))
    modified = place.moment(script.changed_at(hours))
    if stretch.last_modified:
        fixed.append(("Last-Modified", format_rfc822(modified)))
    held_tags = headers.get("if-none-match")
    since = http_date(headers.get("if-modified-since"))
    if held_tags is not None:
        same = bool(tag) and not {"*", *tags_in(tag)}.isdisjoint(tags_in(held_tags))
    else:
        same = stretch.last_modified and since is not None and since >= modified
    if same:
        return WeekAnswer(304, (*fixed, *_freshness(place, hours, stretch, True)))
    body = document(place, script.changed_at(hours))
    fresh = _freshness(place, hours, stretch, False)
    if held_tags is not None and "feed" in headers.get("a-im", "").lower().split(","):
        newer = _newer(place, hours, tags_in(held_tags))
        if newer is not None and hours < script.DELTAS_UNTIL:
            return WeekAnswer(226, (*fixed, ("IM", "feed"), *fresh, _TYPE), newer)
    coding = preferred_coding(headers.get("accept-encoding", ""), CODINGS)
    if coding:
        body = _packed(body)[coding]
        fixed.append(("Content-Encoding", coding))
    return WeekAnswer(200, (*fixed, *fresh, _TYPE), body, stretch.fault)


def _freshness(
    place: WeekPlace, hours: float, stretch: Stretch, not_modified: bool
) -> list[tuple[str, str]]:
    if stretch.no_store:
        return [_NOT_KEPT]
    age = stretch.max_age
    if not_modified and stretch.max_age_304 is not None:
        age = stretch.max_age_304
    if age is not None:
        return [("Cache-Control", f"max-age={age}")]
    if stretch.expires is not None:
        return [("Expires", format_rfc822(place.moment(hours + stretch.expires / HOUR)))]
    return []


def _links(place: WeekPlace) -> list[tuple[str, str]]:
    address = place.address
    return [
        ("Link", f'<{address}/{script.HUB}>; rel="hub"'),
        ("Link", f'<{address}/{script.FIRST}>; rel="self"'),
    ]


def tag_at(place: WeekPlace, hours: float) -> str:
    """The ETag at that hour, as sent; empty where the feed has none."""
    return _tag(place, script.changed_at(hours))


@lru_cache(maxsize=256)
def _tag(place: WeekPlace, changed: float) -> str:
    stretch = stretch_at(changed)
    if not stretch.etag:
        return ""
    number = f"{crc32(document(place, changed)):08x}"
    if stretch.etag == "strong":
        return f'"{number}, odd\\tag--gzip-not"'
    if stretch.etag == "hourly":
        return f'W/"{number}.{int(changed * 10)}"'
    return f'W/"{number}"'


def _newer(place: WeekPlace, hours: float, held_tags: list[str]) -> bytes | None:
    """The document with only the posts that are not in the one that a tag of `known` names
    (RFC 3229); None if no tag names an earlier document, or nothing is new."""
    for at in reversed([at for at in script.CHANGES if at <= hours]):
        if not set(tags_in(tag_at(place, at))).isdisjoint(held_tags):
            held = {(post.number, post.edited is not None and post.edited <= at)
                    for post in script.posts_at(at)}  # fmt: skip
            posts = [
                post
                for post in script.posts_at(hours)
                if (post.number, post.edited is not None and post.edited <= hours) not in held
            ]
            return _rss(place, script.changed_at(hours), posts) if posts else None
    return None


@lru_cache(maxsize=256)
def document(place: WeekPlace, changed: float) -> bytes:
    """The feed's document from the hour of its change `changed` on."""
    return _rss(place, changed, script.posts_at(changed))


def _rss(place: WeekPlace, changed: float, posts: list[WeekPost], archive: str = "") -> bytes:
    """The document; archive: the name of the archive that it is (RFC 5005, 4)."""
    stretch, address = stretch_at(changed), escape(place.address)
    own = archive or (script.WRONG_SELF if stretch.wrong_self else script.FIRST)
    older = script.ARCHIVES[script.ARCHIVES.index(archive) + 1 :] if archive else script.ARCHIVES
    host, _, root = place.address.partition("://")[2].partition("/")
    name, _, port = host.partition(":")
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"',
        '  xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">',
        f"<channel><title>A test feed for readers</title><link>{address}/</link>",
        f"<description>{escape(stretch.purpose)}</description><language>en</language>",
        f'<atom:link rel="self" href="{address}/{own}" type="application/rss+xml"/>',
        *(f'<atom:link rel="prev-archive" href="{address}/{name}"/>' for name in older[:1]),
        f'<atom:link rel="hub" href="{address}/{script.HUB}"/>',
        f'<cloud domain="{escape(name)}" port="{port or 80}" path="/{escape(root)}/{script.CLOUD}"',
        '  registerProcedure="" protocol="http-post"/>',
        f"<lastBuildDate>{format_rfc822(place.moment(changed))}</lastBuildDate>",
    ]
    if archive:
        lines.append('<fh:archive xmlns:fh="http://purl.org/syndication/history/1.0"/>')
        lines.append(f'<atom:link rel="current" href="{address}/{script.FIRST}"/>')
    if stretch.ttl is not None:
        lines.append(f"<ttl>{stretch.ttl}</ttl>")
    if stretch.sy_daily is not None:
        lines.append("<sy:updatePeriod>daily</sy:updatePeriod>")
        lines.append(f"<sy:updateFrequency>{stretch.sy_daily}</sy:updateFrequency>")
    if hours := sorted(skipped_hours(place, stretch)):
        lines.append(f"<skipHours>{''.join(f'<hour>{hour}</hour>' for hour in hours)}</skipHours>")
    if (day := skipped_day(place, stretch)) is not None:
        lines.append(f"<skipDays><day>{_DAYS[day]}</day></skipDays>")
    lines += [_item(place, post, changed) for post in posts]
    return "\n".join([*lines, "</channel></rss>", ""]).encode()


def skipped_hours(place: WeekPlace, stretch: Stretch) -> frozenset[int]:
    """The hours of the day, GMT, that a stretch's skipHours names."""
    hours = range(*stretch.skip_hours) if stretch.skip_hours else ()
    return frozenset(place.moment(hour).hour for hour in hours)


def skipped_day(place: WeekPlace, stretch: Stretch) -> int | None:
    """The weekday, 0 = Monday, GMT, that a stretch's skipDays names; None if it has none."""
    return None if stretch.skip_day is None else place.moment(stretch.skip_day).weekday()


def _item(place: WeekPlace, post: WeekPost, changed: float) -> str:
    address = escape(place.address)
    edited = post.edited is not None and post.edited <= changed
    words = "Its text was corrected later." if edited else "Its text is as it was."
    dated = "some day" if post.dated is None else format_rfc822(place.moment(post.dated))
    return (
        f"<item><title>Post {post.number}</title><link>{address}/post/{post.number}</link>"
        f'<guid isPermaLink="false">{address}/{post.identity}</guid>'
        f"<pubDate>{dated}</pubDate><description>{words}</description></item>"
    )


def _page_or_archive(place: WeekPlace, path: str) -> WeekAnswer:
    """The archive, the posts' pages and the site's page; 404 for everything else."""
    html = ("Content-Type", "text/html; charset=utf-8")
    if path in script.ARCHIVES:
        old = [post for post in script.POSTS if post.at < 0][::-1]
        half = len(old) // 2
        body = _rss(place, 0.0, old[:half] if path == script.ARCHIVES[0] else old[half:], path)
        return WeekAnswer(200, (_TYPE, ("Cache-Control", "max-age=604800")), body)
    number = path.removeprefix("post/")
    if path == "" or (path.startswith("post/") and number.isdecimal() and len(number) < 6):
        title = f"Post {number}" if path else "A test feed for readers"
        page = f"<!doctype html><title>{title}</title><p>{title}, a page of the test."
        return WeekAnswer(200, (html, ("Cache-Control", "max-age=604800")), page.encode())
    return WeekAnswer(404, (_NOT_KEPT, html), b"<!doctype html><title>Nothing here</title>")


@lru_cache(maxsize=64)
def _packed(body: bytes) -> dict[str, bytes]:
    """The body in each coding that is installed."""
    return {**packed(body), GZIP: gzipped(body)}
