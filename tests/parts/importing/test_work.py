"""The work of the command, from a source to what it says it did."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from publisher.base.errors import InvalidData, NotFound, StorageUnavailable
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.parts.importing import images, work, writer
from publisher.parts.importing.imported import Batch
from publisher.storage.tables.blog import Media, MovedList, Post, Redirect
from tests.factories import make_author, make_png

pytestmark = pytest.mark.usefixtures("read_here")

HEAD = "---\ntitle: {0}\ndate: 2024-01-0{1}\nauthor: Zoe\n---\n{2}"


def folder(root: Path, **more: str | bytes) -> Path:
    """Two posts of a site of Jekyll, the second with a picture beside it and one that is gone."""
    files: dict[str, str | bytes] = {
        "_config.yml": "permalink: /:title/\nbaseurl: /b",
        "_posts/2024-01-01-one.md": HEAD.format("One", 1, "x"),
        "_posts/2024-01-02-two.md": HEAD.format("Two", 2, "![](/p.png) ![](/gone.png)"),
        "p.png": make_png(),
    }
    for name, data in (files | more).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return root


def run(site: Site, source: Path, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """What an import says it did, and what it told meanwhile."""
    told = list[str]()
    usual: dict[str, Any] = {"format_": None, "dry_run": False, "with_images": False, "heir": None}
    return work.run(site, str(source), tell=told.append, **usual | options), told


def number_of_posts(site: Site) -> int:
    with site.database.read() as db:
        return len(db.scalars(select(Post.id)).all())


def kinds(outcome: dict[str, Any]) -> dict[str, int]:
    return {group["what"]: group["posts"] for group in outcome["to_do"]}


def test_a_dry_run(site: Site, tmp_path: Path) -> None:
    """What would come, where it would lead and what would be left to do; nothing is changed."""
    outcome, told = run(site, folder(tmp_path), dry_run=True)
    assert (outcome["new"], outcome["titles"]) == (2, ["One", "Two"])
    assert outcome["redirects"] == [("/b/one/", "/posts/one"), ("/b/two/", "/posts/two")]
    missing = "a picture is not here, as pictures were not copied (--images)"
    assert kinds(outcome) == {missing: 1}
    assert outcome["to_do"][0]["lines"][0][2] == ""
    assert "needs your hand: 1 post, see the list" in outcome["facts"]
    assert told == ["reading", "2 posts read", "looking for what needs a hand"]
    assert number_of_posts(site) == 0


def test_a_dry_run_that_looks_for_pictures(site: Site, tmp_path: Path) -> None:
    """Those of the folder are looked for, none is copied."""
    outcome, _ = run(site, folder(tmp_path), dry_run=True, with_images=True)
    assert "2 × picture to download" in outcome["facts"]
    assert kinds(outcome) == {"a picture could not be copied": 1}
    with site.database.read() as db:
        assert db.scalars(select(Media)).all() == []


def test_an_import_with_pictures(site: Site, tmp_path: Path) -> None:
    """Posts, pictures, old addresses, and the place of each post where something is to be done."""
    outcome, told = run(
        site, folder(tmp_path), with_images=True, heir=make_author(site, "ada").name
    )
    assert told[2:] == [
        "1 picture fetched",
        "storing 2 posts",
        "2 posts stored",
        "looking for what needs a hand",
    ]
    with site.database.read() as db:
        one, two = db.scalars(select(Post).order_by(Post.id))
        assert "/media/" in two.source
        assert "gone.png" in two.source
        assert (one.author_id, one.slug) == (1, "one")
        assert [row.path for row in db.scalars(select(Redirect).order_by(Redirect.path))] == [
            "/b/one/",
            "/b/two/",
        ]
        assert load_settings(db).old_feeds == "/b/feed.xml"
        assert len(db.scalars(select(Media)).all()) == 1
    assert outcome["to_do"][0]["lines"] == [
        ["Two", "/gone.png (there is no such file in the folder)", "/studio/posts/2"]
    ]
    assert "the old feed is led here from /b/feed.xml" in outcome["facts"]
    assert (
        "2 posts by 'Zoe', who is not an author here: given to the one you chose"
        in outcome["facts"]
    )


def test_again_nothing_is_new(site: Site, tmp_path: Path) -> None:
    run(site, folder(tmp_path))
    outcome, told = run(site, tmp_path)
    assert (outcome["new"], outcome["titles"], outcome["redirects"]) == (0, [], [])
    assert "2 known posts, unchanged" in outcome["facts"]
    assert "2 posts stored" not in told
    assert number_of_posts(site) == 2


def test_what_lists_and_people_leave_behind(
    site: Site, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Lists that moved, posts without an old address, files that are no posts; all in a file."""
    tagged = HEAD.format("T", 3, "x").replace("author", "tags: [tea]\nauthor")
    files = {"_config.yml": "jekyll-archives: {}", "_posts/2024-01-03-t.md": tagged,
    "_posts/2024-01-04-u.md": HEAD.format("U", 4, "x").replace("---\nx",
    "permalink: /:unknown/\n---\nx"),
             "_posts/2024-01-05-v.md": "---\na: [\n---\nx"}  # fmt: skip
    report = tmp_path_factory.mktemp("x") / "report"
    outcome, _ = run(site, folder(tmp_path, **files), report=report)
    assert kinds(outcome)["it has no old address, so links to it lead nowhere"] == 1
    assert "it has no old address" in report.read_text()
    assert "1 post without an old address: --permalink can say how it was made" in outcome["facts"]
    with site.database.read() as db:
        assert {row.path: row.target for row in db.scalars(select(MovedList))} == {
            "/tag/tea/": "/tags/tea"
        }
    assert "needs your hand: 2 posts, see the list" in outcome["facts"]


def test_what_is_not_imported_is_listed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps(
            {
                "version": "jsonfeed.org/1",
                "items": [{"id": 1, "content_text": "x"}, {"id": 1, "content_text": "x"}],
            }
        )
    )
    outcome, _ = run(site, tmp_path / "a.json", dry_run=True)
    assert kinds(outcome)["it was not imported"] == 1
    assert "1 post not imported, see the list" in outcome["facts"]


def test_a_source_without_a_post(site: Site, tmp_path: Path) -> None:
    """Why, and what can be done instead; a source that is empty is no error."""
    for name in ("a.html", "b.html", "c.html"):
        (tmp_path / name).write_text("<p>x")
    with pytest.raises(
        InvalidData, match=r"has no post \(3 × HTML file without front matter is left out\)\. If"
    ):
        run(site, tmp_path)
    batch = Batch(left_out=[(str(n), "y") for n in range(5)])
    batch.notes.update({"a": 1, "b": 4_000, "c": 3, "d": 2})
    assert work._nothing("x", batch).startswith(
        "x has no post (4,000 × b; 3 × c; 2 × d; 0: y; 1: y; 2: y). If these"
    )
    (tmp_path / "feed.json").write_text('{"version": "jsonfeed.org/1", "items": []}')
    assert run(site, tmp_path / "feed.json")[0]["new"] == 0


def test_an_heir_who_is_not_here(site: Site, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no author called 'zoe'"):
        run(site, folder(tmp_path), heir="zoe")


def test_no_more_redirects_and_titles_are_told(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest titles."""
    monkeypatch.setattr(work, "MOST_LISTED", 1)
    for dry_run in (True, False):
        outcome, _ = run(site, folder(tmp_path), dry_run=dry_run)
        assert (len(outcome["redirects"]), outcome["titles"], outcome["new"]) == (1, ["Two"], 2)


def test_pictures_of_posts_some_at_a_time(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each post gets its own; one that is unchanged is not read again."""
    monkeypatch.setattr(work, "AT_ONCE", 1)
    run(site, folder(tmp_path))
    (tmp_path / "_posts/2024-01-01-one.md").write_text(HEAD.format("One", 1, "![](/p.png)"))
    outcome, told = run(site, tmp_path, with_images=True)
    assert "1 known post, changed in the source: a minor edit here" in outcome["facts"]
    assert told.count("1 picture fetched") == 1
    with site.database.read() as db:
        one, two = db.scalars(select(Post).order_by(Post.id))
    assert "/media/" in one.source
    assert "/p.png" in two.source


def test_a_disk_that_is_full_at_once_is_told_as_it_is(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise StorageUnavailable("full; nothing was changed")

    monkeypatch.setattr(writer, "store", full)
    with pytest.raises(StorageUnavailable, match=r"^full; nothing was changed$"):
        run(site, folder(tmp_path))


def test_pictures_come_from_where_the_environment_allows(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bool]()

    def fetcher(allow_private: bool) -> images.Fetch:
        asked.append(allow_private)
        return lambda _: make_png()

    monkeypatch.setattr(images, "fetcher", fetcher)
    files = {"_posts/2024-01-02-two.md": HEAD.format("Two", 2, "![](https://a.example/q.png)")}
    outcome, _ = run(site, folder(tmp_path, **files), with_images=True)
    assert (asked, outcome["to_do"]) == ([site.environment.allow_private], [])
