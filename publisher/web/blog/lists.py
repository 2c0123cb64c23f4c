"""Lists of posts: `/`, `/archives`, `/tags` and `/tags/<tag>`, `/authors/<name>`, `/search`; and
`/subscribe`: what the feed is, its addresses to copy, and links that open it in a reader.

Only authors with published posts have a page, so that log-in names cannot be guessed here.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any
from urllib.parse import quote

from flask import Blueprint, redirect, render_template, request
from markupsafe import Markup, escape
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from publisher.base.errors import NotFound
from publisher.blog import archive, published
from publisher.blog.markup.markdown import render
from publisher.blog.members import authors
from publisher.blog.slug_words import tag_slug
from publisher.blog.writing import tags
from publisher.installation import has_author
from publisher.storage.tables.blog import Post
from publisher.web.context import now, page_start, settings, site
from publisher.web.day_strip import public_strip
from publisher.web.rendering import url
from publisher.web.translations import gettext

blueprint = Blueprint("lists", __name__)

ON_ONE_PAGE = 500  # posts


@blueprint.get("/archives", strict_slashes=False)
def archive_page() -> str:
    """All posts by month; of a blog with many posts, the months only."""
    with site().database.read() as db:
        months = archive.months(db, settings().zone)
        few = sum(month.posts for month in months) <= ON_ONE_PAGE
        lines = {month: archive.lines(db, month) for month in months} if few else None
    years = {year: list(some) for year, some in groupby(months, lambda month: month.year)}
    return render_template("blog/archives.html", years=years, lines=lines)


@blueprint.get("/archives/<int:year>/<int:month>", strict_slashes=False)
def month(year: int, month: int) -> str:
    """One month's posts, by title or first words."""
    with site().database.read() as db:
        chosen = archive.month_of(year, month, settings().zone)
        lines = archive.lines(db, chosen, page_start(db))
        if not lines:
            raise NotFound("Nothing was published in that month.")
        older = lines[-1].id if len(lines) == archive.PAGE else None
        return render_template("blog/month.html", month=chosen, lines=lines, older=older)


@blueprint.get("/")
def home() -> str:
    """The newest posts, and older ones page by page."""
    with site().database.read() as db:
        nobody = not has_author(db)
        return post_list(db, "blog/home.html", partial(published.newest, db), nobody=nobody)


@blueprint.get("/tags", strict_slashes=False)
def all_tags() -> str:
    """The tags of published posts by name, each with the number of its posts."""
    with site().database.read() as db:
        return render_template("blog/tags.html", tags=[t for t in tags.used(db) if t.shown])


@blueprint.get("/tags/<name>", strict_slashes=False)
def tag(name: str) -> str | Response:
    """The posts of one tag; a former name redirects to the present one."""
    with site().database.read() as db:
        chosen = published.tag_called(db, name)
        if not published.with_tag(db, chosen, 1):
            raise NotFound("there is no such tag")  # tags of drafts are private
        if chosen.slug != tag_slug(name):
            return redirect(f"/tags/{chosen.slug}", 301)
        more = partial(published.with_tag, db, chosen)
        return post_list(db, "blog/tag.html", more, tag=chosen)


@blueprint.get("/authors/<name>", strict_slashes=False)
def author(name: str) -> str | Response:
    """An author's biography and posts; a former name, here or on an imported blog, leads on."""
    with site().database.read() as db:
        try:
            person = published.author_called(db, name)
        except NotFound:
            if old := published.moved_list(db, f"/authors/{name}", f"/authors/{name}/"):
                return redirect(old, 301)
            now = published.author_called(db, authors.formerly(db, name).name)
            return redirect(f"/authors/{now.name}", 301)
        more, bio = partial(published.by_author, db, person), render(person.bio)
        return post_list(db, "blog/author.html", more, author=person, bio=bio)


HITS, LAST_PAGE, LONGEST_QUERY = 20, 25, 200


@blueprint.get("/search")
def search_page() -> str:
    """Posts and pages with certain words."""
    query = " ".join(request.args.get("q", "").split())[:LONGEST_QUERY]
    page = min(max(1, request.args.get("page", 1, int)), LAST_PAGE)
    with site().database.read() as db:
        hits = _hits(db, query, page)
    return render_template(
        "blog/search.html",
        query=query,
        hits=hits[:HITS],
        page=page,
        more=len(hits) > HITS and page < LAST_PAGE,
    )


def _hits(db: Session, query: str, page: int) -> list[tuple[archive.ListedPost, Markup]]:
    matches = published.search(db, query, HITS + 1, (page - 1) * HITS)
    lines = archive.lines_of(db, [hit.number for hit in matches])
    return [(lines[hit.number], _marked(hit.excerpt)) for hit in matches if hit.number in lines]


def _marked(excerpt: str) -> Markup:
    """An excerpt as HTML, with its matches marked."""
    text = str(escape(excerpt))  # the only markup is added below
    return Markup(text.replace("\x02", "<mark>").replace("\x03", "</mark>"))  # noqa: S704  # nosec


More = Callable[[int, Post | None], Sequence[Post]]


def post_list(db: Session, template: str, more: More, **values: Any) -> str:
    """A page of posts, from `?before=` on, with a link to older ones if there are any."""
    start = page_start(db)
    number = settings().home_items
    posts = more(number + 1, start)
    return render_template(
        template,
        posts=posts[:number],
        older=posts[number - 1].id if len(posts) > number else None,
        first=start is None,
        several=several_authors(db),
        **values,
    )


def several_authors(db: Session) -> bool:
    """Whether posts name their author: only on a blog with several authors."""
    return len(authors.everyone(db)) > 1


NEWEST = 5


# Name and address; the feed's address is appended, quoted as part of a query.
_WEB_READERS = (
    ("Feedly", "https://feedly.com/i/subscription/feed/"),
    ("Inoreader", "https://www.inoreader.com/?add_feed="),
    ("NewsBlur", "https://www.newsblur.com/?url="),
    ("Feedbin", "https://feedbin.com/?subscribe="),
    ("The Old Reader", "https://theoldreader.com/feeds/subscribe?url="),
)
_PODCAST_SCHEMES = (("Apple Podcasts", "podcast://"), ("Pocket Casts", "pktc://subscribe/"))


@blueprint.get("/subscribe")
def subscribe() -> str:
    """How to follow this blog, or with `?tag=` the posts of one tag."""
    with site().database.read() as db:
        slug = request.args.get("tag", "")
        tag = published.tag_called(db, slug) if slug else None
        newest = published.with_tag(db, tag, NEWEST) if tag else published.newest(db, NEWEST)
        feed = f"/tags/{tag.slug}/rss.xml" if tag else "/rss.xml"
        is_podcast = not tag and published.has_sound(db, settings().feed_items)
        return render_template(
            "blog/subscribe.html",
            tag=tag,
            feed=feed,
            readers=web_readers(url(feed)),
            podcast_readers=podcast_readers(url(feed)) if is_podcast else [],
            newest=newest,
            day=public_strip(db, now, "subscribe"),
        )


def web_readers(feed: str) -> list[tuple[str, str]]:
    """Readers on the web, and the program for `feed:` links on the visitor's device."""
    own = gettext("A program on this device"), f"feed:{feed}"
    return [*((name, start + quote(feed, safe="")) for name, start in _WEB_READERS), own]


def podcast_readers(feed: str) -> list[tuple[str, str]]:
    """Podcast programs: links whose scheme replaces https."""
    bare = feed.partition("://")[2]
    return [(name, scheme + bare) for name, scheme in _PODCAST_SCHEMES]
