"""What a page costs, against an empty page with the same layout in the same application."""

import statistics
import time
from collections.abc import Callable

from flask import Flask, render_template_string
from flask.testing import FlaskClient
from sqlalchemy import event, select

from bench.blog import make_blog
from bench.load import scratch
from bench.table import Table
from publisher.base.clock import utc_now
from publisher.blog.members import authors
from publisher.installation import Site
from publisher.storage.tables.blog import Post
from publisher.web.application import close_app, create_app

SIZES = (100, 100_000)
ROUNDS = 40
AGAIN = "home, once more"  # from memory
PUBLIC, ROOM = "/bench-empty", "/bench-empty-room"
_LAYOUTS = {PUBLIC: "layout/blog.html", ROOM: "layout/room.html"}


def run() -> list[Table]:
    """Each page, and the floor under it, in turns on a small and on a large blog."""
    table = Table(
        "What a page costs",
        ["page", "statements", *(f"{size:,} posts: ms, of the floor" for size in SIZES)],
        notes=f"Median CPU milliseconds of {ROUNDS} requests by Flask's test client, all pages in "
        "turns; in brackets the ratio to an empty page with the same layout, its floor. Statements "
        "of SQL, without BEGIN.",
    )
    columns = [_costs(make_blog(scratch(), size, "http://localhost")) for size in SIZES]
    for what in columns[0]:
        cells = [str(columns[0][what][2])]
        for costs in columns:
            cost, floor, _ = costs[what]
            cells.append(f"{cost:.1f} ({cost / floor:.1f})")
        table.add(what, *cells)
    return [table]


def _costs(site: Site) -> dict[str, tuple[float, float, int]]:
    """The pages' CPU milliseconds, those of their floors, and how many statements they ask."""
    with site.database.write() as session:
        authors.add(session, "ada", authors.hashed("correct horse battery"), None, utc_now())
        newest = select(Post).where(Post.status == "published").order_by(Post.published_at.desc())
        post = session.scalars(newest.limit(1)).one()
        number, slug = post.id, post.slug
    app = create_app(site.environment)
    app.config["FORM_KEYS"] = False
    for path, layout in _LAYOUTS.items():
        app.add_url_rule(path, path, _empty(layout))
    reader, writer = app.test_client(), _logged_in(app, site)
    pages = {
        "empty page of the blog": (reader, PUBLIC, PUBLIC),
        "home": (reader, "/", PUBLIC),
        AGAIN: (reader, "/", PUBLIC),
        "post": (reader, f"/posts/{slug}", PUBLIC),
        "tag": (reader, "/tags/a", PUBLIC),
        "search, words of 30 posts": (reader, "/search?q=people+emphasis", PUBLIC),
        "archives": (reader, "/archives", PUBLIC),
        "empty page of the studio": (writer, ROOM, ROOM),
        "studio, home": (writer, "/studio/", ROOM),
        "studio, list of posts": (writer, "/studio/posts", ROOM),
        "studio, editor": (writer, f"/studio/posts/{number}", ROOM),
    }
    took: dict[str, list[float]] = {what: [] for what in pages}
    asked: list[str] = []
    statements: dict[str, int] = {}
    database = app.extensions["publisher"].database

    @event.listens_for(database.engine, "before_cursor_execute")
    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement != "BEGIN":
            asked.append(statement)

    for turn in range(ROUNDS + 2):
        for what, (client, path, _) in pages.items():
            if what != AGAIN:
                app.extensions["front"].forget_pages()
            asked.clear()
            begun = time.process_time()
            answer = client.get(path, base_url=site.site_url)
            seconds = time.process_time() - begun
            if answer.status_code != 200:
                raise RuntimeError(f"{path}: {answer.status}")
            statements[what] = len(asked)
            if turn >= 2:  # the first ones load templates and modules
                took[what].append(seconds * 1000)
    close_app(app)
    middle = {what: statistics.median(times) for what, times in took.items()}
    floors = {path: middle[what] for what, (_, path, _) in pages.items() if path in _LAYOUTS}
    return {
        what: (middle[what], floors[floor], statements[what]) for what, (*_, floor) in pages.items()
    }


def _empty(layout: str) -> Callable[[], str]:
    text = f'{{% extends "{layout}" %}}'
    return lambda: render_template_string(text)


def _logged_in(app: Flask, site: Site) -> FlaskClient:
    client = app.test_client()
    client.environ_base["HTTP_ORIGIN"] = site.site_url
    data = {"name": "ada", "password": "correct horse battery"}
    client.post("/studio/login", data=data, base_url=site.site_url)
    return client
