"""From a batch to the database: states, counts, addresses, and the second time."""

import sys
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete, func, select

from publisher.base.errors import StorageUnavailable
from publisher.base.media_files import Attachment
from publisher.blog import published, update_log
from publisher.blog.markup import markdown
from publisher.blog.members import authors
from publisher.blog.writing import posts, tags
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.parts.importing import planning, work, writer
from publisher.parts.importing.imported import Batch, ImportedPost, ImportedSite
from publisher.parts.importing.pages import command
from publisher.storage.tables.blog import (
    HistogramState,
    Job,
    MovedList,
    Post,
    Redirect,
    Revision,
    Update,
)
from tests.conftest import MONDAY_MORNING, FakeClock
from tests.factories import content, make_author, make_post
from tests.parts.importing.conftest import Importer


def post(number: int = 1, **fields: Any) -> ImportedPost:
    """A published post, an hour older with each number."""
    values: dict[str, Any] = {
        "where": f"item {number}",
        "guid": f"https://old.example/{number}",
        "source": f"<p>Text {number}</p>",
        "published_at": MONDAY_MORNING - timedelta(days=30, hours=number),
        "address": f"https://old.example/2024/post-{number}/?p={number}",
    }
    return ImportedPost(**(values | fields))


def stored(site: Site) -> list[Post]:
    with site.database.read() as db:
        return list(db.scalars(select(Post).order_by(Post.id)))


def log(site: Site) -> list[tuple[datetime, str]]:
    with site.database.read() as db:
        return [
            (at, kind)
            for at, kind in db.execute(select(Update.at, Update.kind).order_by(Update.at))
        ]


def test_a_post_is_all_there(site: Site, importer: Importer) -> None:
    """Guid, date, safe HTML, tags, summary, enclosure, author, slug, search, redirect, revision."""
    make_author(site)
    importer(
        Batch(
            [
                post(
                    title="Fish",
                    source="<p>Cod<script>x()</script></p>",
                    slug="fish",
                    guid_is_permalink=True,
                    summary="Short",
                    tags=("food", "Sea"),
                    by=("nobody", "ADA"),
                    enclosure=Attachment("https://old.example/1.mp3", "audio/mpeg", 5),
                    aliases=("/?p=1", "http://old.example/fish"),
                )
            ]
        )
    )
    with site.database.read() as db:
        fish = published.at_path(db, "fish", "post")
        assert fish.html == "<p>Cod</p>"
        assert (fish.guid, fish.guid_is_permalink) == ("https://old.example/1", True)
        assert fish.published_at == post().published_at
        assert [tag.name for tag in fish.tags] == ["food", "Sea"]
        assert fish.author is not None
        assert fish.author.name == "ada"
        assert posts.content(db, fish).enclosure == Attachment(
            "https://old.example/1.mp3", "audio/mpeg", 5
        )
        assert [hit.number for hit in published.search(db, "cod")] == [fish.id]
        for old in ("/2024/post-1/?p=1", "/?p=1", "/fish"):
            moved = published.moved(db, old)
            assert moved is not None
            assert moved.id == fish.id
        tag = published.tag_called(db, "sea")
        assert [post.id for post in published.with_tag(db, tag, 5)] == [fish.id]
        assert (
            db.scalars(select(Revision)).one().content["source"] == "<p>Cod<script>x()</script></p>"
        )


def test_updates_count_at_their_own_dates(site: Site, importer: Importer) -> None:
    """Each published post is one update then; drafts, pages and what is scheduled are none."""
    importer(
        Batch(
            [
                post(1),
                post(2),
                post(3, kind="page"),
                post(4, status="draft"),
                post(5, published_at=MONDAY_MORNING + timedelta(days=1)),
            ]
        )
    )
    assert log(site) == [(post(2).published_at, "import"), (post(1).published_at, "import")]
    with site.database.read() as db:
        assert update_log.load(db) == update_log.at(db, MONDAY_MORNING)
        assert update_log.load(db).updates == 2


def test_an_older_blog_teaches_as_much(site: Site, importer: Importer) -> None:
    """What is imported after newer posts is folded as if it had been there first."""
    importer(Batch([post(number) for number in range(1, 20)]))
    importer(Batch([post(number) for number in range(20, 60)]))
    with site.database.read() as db:
        assert update_log.load(db) == update_log.at(db, MONDAY_MORNING)


def test_states(site: Site, importer: Importer, clock: FakeClock) -> None:
    """No date: a draft. A date to come: scheduled, and published at that time. Pages need none."""
    tomorrow = clock() + timedelta(days=1)
    batch = Batch(
        [
            post(1, published_at=None),
            post(2, published_at=tomorrow),
            post(3, kind="page", published_at=None),
            post(4, status="scheduled"),
            post(5, status="deleted", deleted_status="published"),
        ]
    )
    importer(batch)
    states = {post.guid[-1]: post.status for post in stored(site)}
    assert states == {
        "1": "draft",
        "2": "scheduled",
        "3": "published",
        "4": "scheduled",
        "5": "deleted",
    }
    assert batch.notes["post without a date becomes a draft"] == 1
    with site.database.write() as db:
        missed, due = posts.publish_due(db, tomorrow)
    assert missed.published_at == post(4).published_at
    assert due.published_at == tomorrow


def test_the_second_time_nothing_changes(site: Site, importer: Importer) -> None:
    """Every guid is known: no post, no update, no redirect is added."""
    batch = Batch([post(number, tags=("a", "b"), summary="s") for number in range(1, 8)])
    importer(batch)
    before = (log(site), [(p.id, p.version, p.changed_at) for p in stored(site)])
    again = importer(batch)
    assert (len(again.new), again.unchanged, again.changed, again.edited_here) == (0, 7, [], 0)
    assert before == (log(site), [(p.id, p.version, p.changed_at) for p in stored(site)])


def test_changes_in_the_source_are_minor_edits(site: Site, importer: Importer) -> None:
    """A changed post follows its source without counting as an update, and keeps its address."""
    importer(Batch([post(1, title="Old"), post(2)]))
    again = importer(Batch([post(1, title="New"), post(2)]))
    assert (len(again.changed), again.unchanged) == (1, 1)
    changed = next(post for post in stored(site) if post.title == "New")
    assert (changed.slug, changed.version) == ("old", 2)
    assert len(log(site)) == 2
    third = importer(Batch([post(1, title="Newer"), post(2)]))
    assert len(third.changed) == 1


def test_what_was_edited_here_stays(site: Site, importer: Importer, clock: FakeClock) -> None:
    """The source changes after a person edited the post here: theirs is kept, and said so."""
    author = make_author(site)
    importer(Batch([post(1), post(2)]))
    ours = stored(site)[0]
    with site.database.write() as db:
        posts.save(db, ours.id, content("My own words"), 1, author.id, clock())
        posts.delete(db, posts.get(db, stored(site)[1].id), clock())
    batch = Batch([post(1, title="Changed"), post(2, title="Changed")])
    again = importer(batch)
    assert (again.edited_here, again.changed, again.new) == (2, [], [])
    assert any("edited or deleted here" in line for line in planning.sentences(again, batch))
    assert "My own words" in [post.source for post in stored(site)]


def test_guids_of_earlier_versions(site: Site, importer: Importer) -> None:
    """A post that an earlier version stored under another guid is the same, and keeps that one."""
    importer(Batch([post(guid="urn:file:one.md")]))
    moved = post(guid="https://old.example/one/", formerly=("urn:file:one.md",))
    again = importer(Batch([moved, post(2, formerly=("urn:file:two.md",))]))
    assert (again.unchanged, len(again.new)) == (1, 1)
    assert [post.guid for post in stored(site)] == ["urn:file:one.md", "https://old.example/2"]


def test_one_that_takes_too_long_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name and the reason are in the report."""
    rendered = markdown.rendered

    def render(source: str, *arguments: Any) -> Any:
        while "endless" in source:
            pass
        return rendered(source, *arguments)

    monkeypatch.setattr(markdown, "rendered", render)
    monkeypatch.setattr(planning, "SECONDS", 0.3)
    batch = Batch([post(title="Slow", source="<p>endless</p>"), post(2, title="Other")])
    assert [prepared.label for prepared in planning.prepare(batch, MONDAY_MORNING)] == ["Other"]
    assert batch.left_out == [("Slow", "it takes too long to read")]


def test_pictures_that_were_fetched_are_no_change(site: Site, importer: Importer) -> None:
    """A post whose pictures are ours now is still the post that the source has."""
    theirs = (
        '<p>A</p><img alt="x" src="https://old.example/x.png" srcset="https://old.example/y 2x">'
    )
    ours = '<p>A</p><img alt="x" src="/media/1.png">'
    importer(Batch([post(1, source=ours)]))
    assert importer(Batch([post(1, source=theirs)])).unchanged == 1
    assert len(importer(Batch([post(1, source=theirs + "More")])).changed) == 1


def test_history_is_not_counted_twice(site: Site, importer: Importer) -> None:
    """A post whose very second was loaded as history adds nothing to the log."""
    with site.database.write() as db:
        update_log.record(db, post(1).published_at or MONDAY_MORNING, "loaded")
    importer(Batch([post(1), post(2)]))
    assert sorted(kind for _, kind in log(site)) == ["import", "loaded"]


def test_the_days_of_a_report_are_those_of_the_blog(importer: Importer) -> None:
    """A day without a time is midnight in the blog's zone, and may be the day before in UTC."""
    zone = ZoneInfo("Europe/Berlin")
    batch = Batch([post(1, published_at=datetime(2018, 5, 3, tzinfo=zone))])
    assert any(
        line.endswith("2018-05-03") for line in planning.sentences(importer(batch), batch, zone)
    )


def test_authors_we_do_not_know(site: Site, importer: Importer) -> None:
    """They are named in the report; with an heir, the heir gets their posts."""
    ada = make_author(site)
    batch = Batch([post(1, by=("eve", "Eve E.")), post(2, by=("eve", "Eve E."))])
    plan = importer(batch)
    assert any("2 posts by 'Eve E.'" in line for line in planning.sentences(plan, batch))
    assert {post.author_id for post in stored(site)} == {None}
    importer(Batch([post(3, by=("eve",)), post(4)]), heir="ada")
    assert {post.author_id for post in stored(site)[2:]} == {ada.id}


def test_one_slug_one_post(site: Site, importer: Importer) -> None:
    """Posts of one name get numbers; a page cannot take an address of the site itself."""
    importer(Batch([post(n, title="Same", address="") for n in range(1, 5)]))
    importer(Batch([post(9, title="Studio", kind="page"), post(10, source="???", title="")]))
    slugs = [post.slug for post in stored(site)]
    assert sorted(slugs[:4]) == ["same", "same-2", "same-3", "same-4"]
    assert "studio-2" in slugs
    assert any(slug.startswith("note-") for slug in slugs)


def test_an_old_address_belongs_to_one(site: Site, importer: Importer) -> None:
    """Two posts that claim one address: the older one has it; living addresses are not claimed."""
    importer(
        Batch(
            [post(1, address="/a"), post(2, address="/a"), post(3, title="b", address="/posts/b")]
        )
    )
    with site.database.read() as db:
        assert db.scalar(select(func.count()).select_from(Redirect)) == 1
        first = published.moved(db, "/a")
        assert first is not None
        assert first.guid == post(2).guid


def test_posts_are_stored_a_few_at_a_time(
    site: Site, importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one batch has taken (slugs, tags, old addresses) is taken for the next ones."""
    monkeypatch.setattr(planning, "_AT_ONCE", 3)
    batch = Batch([post(n, title="Same", tags=("a", f"t{n % 3}"), address="/a") for n in range(7)])
    importer(batch)
    again = importer(batch)
    assert (len(again.new), again.unchanged) == (0, 7)
    assert [post.slug for post in stored(site)] == ["same", *(f"same-{n}" for n in range(2, 8))]
    assert [post.published_at for post in stored(site)] == [at for at, _ in log(site)]
    with site.database.read() as db:
        first = published.moved(db, "/a")
        assert first is not None
        assert first.guid == post(6).guid
        assert {tag.name: tag.posts for tag in tags.used(db)} == {"a": 7, "t0": 3, "t1": 2, "t2": 2}


def test_one_that_cannot_be_stops_no_other(site: Site, importer: Importer) -> None:
    """A post beyond the limits is named and left out; one of a far day is a draft that says so."""
    far = datetime(2105, 6, 1, tzinfo=MONDAY_MORNING.tzinfo)
    batch = Batch(
        [post(1), post(2, title="Long", source="x" * 1_000_001), post(3, published_at=far)]
    )
    plan = importer(batch)
    assert [post.status for post in stored(site)] == ["published", "draft"]
    assert batch.left_out == [("Long", "source: 1,000,001 characters; at most 1,000,000 fit")]
    (draft,) = (prepared for prepared in plan.posts if prepared.post.status == "draft")
    assert draft.post.needs == ("its date is too far away, so it became a draft: 2105-06-01",)


def test_lists_of_the_old_blog(site: Site) -> None:
    """Their addresses are stored once, and lead nowhere else."""
    moved = {
        "/category/a/": "/tags/a", "/tags/b/": "/tags/b", "/x/": "https://evil.example/",
        "/y/": "//evil.example", "/z/": "/\\\\evil.example",
    }  # fmt: skip
    for _ in range(2):
        with site.database.write() as db:
            writer.moved_lists(db, moved)
    with site.database.read() as db:
        assert [(row.path, row.target) for row in db.scalars(select(MovedList))] == [
            ("/category/a/", "/tags/a")
        ]


def led(client: FlaskClient, path: str) -> str:
    """Where a redirect from `path` leads; "" for none."""
    answer = client.get(path)
    return answer.headers["Location"] if answer.status_code == 301 else ""


def by(place: Path, *people: str) -> str:
    """A site of Hugo with a post by each of these people, who have pages."""
    (place / "content/posts").mkdir(parents=True)
    (place / "hugo.toml").write_text("[taxonomies]\nauthor = 'authors'")
    for name in people:
        head = f"title: By {name}\ndate: 2020-01-02\nauthors: [{name}]"
        (place / f"content/posts/{name}.md").write_text(f"---\n{head}\n---\nx")
    return str(place)


@pytest.mark.usefixtures("read_here")
def test_old_pages_of_authors(site: Site, client: FlaskClient, tmp_path: Path) -> None:
    """They lead to ours of the same author, their feeds to our feed; that of somebody who is not
    here leads nowhere, and the report says so, before the import and after it."""
    with site.database.write() as db:
        authors.add(db, "ada", authors.hashed("a password"), None, site.clock(), "Ada L")
        authors.add(db, "bo", authors.hashed("a password"), None, site.clock())
    source = by(tmp_path / "old", "Ada L", "Cy")
    for dry_run in (True, False):
        outcome = work.run(site, source, None, dry_run, False, None, lambda _: None)
        assert outcome["facts"][-1] == (
            "1 old page of an author not led on, as no author here has the posts: /authors/cy/"
        )
    for old in ("/authors/ada-l/", "/authors/ada-l", "/authors/ada-l/page/2/"):
        assert led(client, old) == "/authors/ada"
    assert client.get("/authors/ada").status_code == 200
    assert led(client, "/authors/ada-l/index.xml") == led(client, "/authors/cy/index.xml")
    assert led(client, "/authors/cy/index.xml") == "/rss.xml"
    for nowhere in ("/authors/cy/", "/authors/cy/page/2/", "/authors/page/2", "/x/page/2/"):
        assert client.get(nowhere).status_code == 404


@pytest.mark.usefixtures("read_here")
@pytest.mark.parametrize(("heir", "people", "target"), [
    ("ada", ("Cy", "Di"), "/authors/ada"), (None, ("Cy",), "/"), (None, ("Cy", "Di"), ""),
])  # fmt: skip
def test_old_pages_of_authors_who_are_not_here(
    site: Site,
    client: FlaskClient,
    tmp_path: Path,
    heir: str | None,
    people: tuple[str, ...],
    target: str,
) -> None:
    """Who was given the posts has the page; all posts are those of a blog's only author."""
    make_author(site)
    work.run(site, by(tmp_path / "old", *people), None, False, False, heir, lambda _: None)
    assert led(client, "/authors/cy/") == target


def test_posts_that_share_a_guid(site: Site, importer: Importer) -> None:
    """A plugin that copies posts copies their guids: another address and text is another post, at
    every import the same."""
    twins = [
        post(1, guid="https://old.example/?p=10", title="One", address="https://old.example/one/"),
        post(2, guid="https://old.example/?p=10", title="Two", address="https://old.example/two/"),
    ]
    for batch in (Batch(twins), Batch(twins)):
        importer(batch)
        assert batch.left_out == []
        assert {post.title: post.guid for post in stored(site)} == {
            "One": "https://old.example/?p=10",
            "Two": "https://old.example/two/",
        }
    same = Batch([twins[0], replace(twins[0], title="One, corrected")])
    importer(same)
    assert same.left_out == [("One, corrected", "it is in the source twice; the first is used")]


def test_what_does_not_fit_is_cut_and_noted(site: Site, importer: Importer) -> None:
    """A title that is too long, a double, an empty post: bent or left out, never in silence."""
    batch = Batch(
        [
            post(1, title="t" * 400, summary="s" * 3000, tags=("x" * 70, "ok")),
            replace(post(1), title="twin"),
            post(2, source=" "),
        ]
    )
    importer(batch)
    (only,) = stored(site)
    assert (len(only.title), len(only.summary)) == (300, 2000)
    assert sum(batch.notes.values()) == 4
    assert batch.left_out == [("twin", "it is in the source twice; the first is used")]


def test_control_characters_are_dropped(site: Site, importer: Importer) -> None:
    """What no feed could carry does not get in."""
    importer(Batch([post(1, title="a\x00b", source="c\x0bd\ud800")]))
    assert (stored(site)[0].title, stored(site)[0].source) == ("ab", "cd")


def test_time_is_in_proportion_to_the_posts(site: Site, importer: Importer) -> None:
    """A post takes as many calls among many as among few, in one import and in a full blog."""
    numbers = count()

    def calls(posts: int) -> int:
        text, turns = "<p>Some words of a post.</p>" * 20, count()
        batch = Batch([post(next(numbers), source=text, tags=("a", "b")) for _ in range(posts)])
        sys.setprofile(lambda *_: next(turns))
        importer(batch)
        sys.setprofile(None)
        return next(turns)

    _ = [calls(5) for _ in range(2)]  # what is loaded once, by the first and by the second
    ten, twenty, many, ten_more, twenty_more = map(calls, (10, 20, 120, 10, 20))
    each = (twenty - ten) / 10
    assert (many - twenty) / 100 < each * 1.1
    assert (twenty_more - ten_more) / 10 < each * 1.1
    assert len(log(site)) == 190


def test_quotes_are_those_of_the_blogs_language(clock: FakeClock) -> None:
    """Straight ones in Markdown; HTML stays as it came."""
    posts = [
        ImportedPost(where="a", guid="a", source='Say "so".', source_format="markdown"),
        ImportedPost(where="b", guid="b", source='<p>Say "so".</p>', source_format="html"),
    ]
    first, second = planning.prepare(Batch(posts), clock(), "de")
    assert first.html == "<p>Say „so“.</p>\n"
    assert second.html == '<p>Say "so".</p>'


@pytest.mark.usefixtures("read_here")
def test_others_save_while_a_large_import_is_stored(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stored some posts at a time; what came in between is seen, and nothing is lost."""
    for name in ("a", "b", "c"):
        text = (
            f"---\ntitle: Same\nslug: same\ndate: 2024-01-0{'abc'.index(name) + 1}\n---\n\n{name}"
        )
        (tmp_path / f"{name}.md").write_text(text)

    def save() -> None:
        with site.database.write() as db:
            number = db.scalar(select(func.count(Post.id))) or 0
            mine = posts.create(db, content("Mine", slug=f"same-{number + 1}"), None, site.clock())
            posts.publish_or_schedule(db, mine, site.clock(), site.clock())

    monkeypatch.setattr(work, "AT_ONCE", 1)
    monkeypatch.setattr(site.database, "give_way", save)
    outcome = work.run(site, str(tmp_path), None, False, False, None, lambda _: None)
    assert outcome["new"] == 3
    assert [(post.source, post.slug) for post in stored(site)] == [
        ("a", "same"), ("Mine", "same-2"), ("b", "same-3"), ("Mine", "same-4"),
        ("c", "same-5"), ("Mine", "same-6"),
    ]  # fmt: skip
    with site.database.write() as db:
        counted = update_log.load(db)
        db.execute(delete(HistogramState))
        assert update_log.load(db) == counted
    assert counted.updates == 6


@pytest.mark.usefixtures("read_here")
def test_an_import_that_the_disk_stops_goes_on_later(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says how far it came; the same command brings the rest and counts each update once."""
    for number in range(1, 4):
        text = f"---\ntitle: T{number}\ndate: 2024-01-0{number}\n---\n\nx"
        (tmp_path / f"{number}.md").write_text(text)

    def full() -> None:
        raise StorageUnavailable("the disk is full; nothing was changed")

    def run() -> dict[str, Any]:
        return work.run(site, str(tmp_path), None, False, False, None, lambda _: None)

    monkeypatch.setattr(work, "AT_ONCE", 2)
    with monkeypatch.context() as patch:
        patch.setattr(site.database, "give_way", full)
        with pytest.raises(StorageUnavailable, match="the disk is full; 2 posts of 3 are stored"):
            run()
    assert run()["new"] == 1
    assert [post.title for post in stored(site)] == ["T1", "T2", "T3"]
    assert len(log(site)) == 3


def test_settings_and_people_of_an_export_come_to_an_empty_blog_only(site: Site) -> None:
    """All but the address, which this site has; nobody twice."""
    ada = {"name": "ada", "role": "admin", "created_at": "2020-01-02T03:04:05Z", "bio": "",
           "display_name": "Ada", "disabled_at": None}  # fmt: skip
    settings = {"title": "Brought", "site_url": "https://old.example"}
    batch = Batch(site=ImportedSite(settings, (ada, ada | {"name": "bob", "role": "author"})))
    for _ in range(2):
        with site.database.write() as db:
            writer.people_and_settings(db, batch)
    with site.database.read() as db:
        assert load_settings(db).title == "Brought"
        everyone = [(author.name, author.role) for author in authors.everyone(db)]
    assert everyone == [("ada", "admin"), ("bob", "author")]
    make_post(site)
    with site.database.write() as db:
        writer.people_and_settings(db, Batch(site=ImportedSite({"title": "Another"})))
        assert load_settings(db).title == "Brought"


def test_the_command_of_an_import_in_the_studio() -> None:
    uploaded = Job(id=7, kind="import", file="blog.zip", options={"dry_run": True, "heir": "ada"})
    assert command(uploaded, "/jobs/7-blog.zip") == [
        "import", "/jobs/7-blog.zip", "--json", "--progress", "--dry-run",
        "--report", "/jobs/report-7.txt", "--author", "ada",
    ]  # fmt: skip
    address = Job(
        id=8, kind="import", file="", options={"address": "https://a.example", "images": True}
    )
    assert command(address, "/jobs") == [
        "import", "https://a.example", "--json", "--progress", "--images",
        "--report", "/jobs/report-8.txt",
    ]  # fmt: skip
    assert command(Job(id=9, kind="export", file="", options={}), "/jobs") == []
