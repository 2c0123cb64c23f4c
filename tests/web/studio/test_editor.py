"""The editor's form, without any script."""

import re

from publisher.blog.writing import posts
from publisher.blog.writing.content import Content
from publisher.installation import Site
from publisher.storage.tables.blog import Post
from tests.conftest import SITE_URL, FakeClock
from tests.factories import make_author, make_post, set_settings
from tests.web.studio.browser import Browser, number, the_post


def test_everything_about_a_post(ada: Browser, site: Site) -> None:
    """All fields of the form arrive in the post and come back into the form."""
    answer = ada.post(
        "/studio/posts/new", title="Ep. 1", source="Notes", tags="Radio, Café , radio",
        summary="Short.", slug="Episode One", kind="post", place="draft",
        enclosure_url="https://cdn.example/1.mp3", enclosure_type="audio/mpeg",
        enclosure_bytes="1,234", enclosure_length="1:02:03",
    )  # fmt: skip
    post = the_post(site, number(answer))
    assert (post.title, post.slug, post.summary) == ("Ep. 1", "episode-one", "Short.")
    assert (post.enclosure_bytes, post.enclosure_seconds) == (1234, 3723)
    page = ada.get("/studio/posts/1")
    for text in ("Café, Radio", "episode-one", "Short.", "1:02:03", "https://cdn.example/1.mp3"):
        assert text in page


BAD_FIELDS: list[tuple[dict[str, str], str]] = [
    ({"title": "x" * 10_000}, "Title: 10,000 characters; at most 300 fit"),
    ({"source": ""}, "Write something first"),
    ({"slug": "!!!"}, "Letters or digits are needed"),
    ({"tags": "t" * 61}, "A tag has at most 60 characters"),
    ({"tags": "Feeds, 🎉"}, "A tag needs a letter or a digit, and “🎉” has none"),
    ({"tags": ",".join(f"t{n}" for n in range(51))}, "51 tags"),
    ({"kind": "poem"}, "Must be post or page"),
    ({"place": "later"}, "A date and a time are needed"),
    ({"place": "later", "at": "0000-01-01T00:00"}, "Not a date"),
    ({"place": "later", "at": "9999-01-01T00:00"}, "The year must lie in 1970-2105"),
    ({"place": "later", "at": "tomorrow-ish"}, "Not a date"),
    ({"enclosure_url": "javascript:alert(1)"}, "begins with https://"),
    ({"enclosure_url": "https://x.example/a.mp3"}, "Size in bytes"),
    (
        {"enclosure_url": "https://x.example/a.mp3", "enclosure_type": "audio/mpeg",
         "enclosure_bytes": "9", "enclosure_length": "1:99"},
        "minutes:seconds",
    ),
]  # fmt: skip


def test_bad_fields(ada: Browser, site: Site) -> None:
    """What cannot be taken is named in words, the text stays in the form, nothing is saved."""
    usual = {"source": "Kept <words>.", "place": "draft"}
    for fields, words in BAD_FIELDS:
        answer = ada.post("/studio/posts/new", **usual | fields)
        assert answer.status_code == 422, words
        assert words.casefold() in answer.text.casefold()
        if fields.get("source") is None:
            assert "Kept &lt;words&gt;.</textarea>" in answer.text, words
    with site.database.read() as db:
        assert db.query(Post).count() == 0


def test_characters_that_xml_cannot_carry(ada: Browser, site: Site) -> None:
    """Control characters and lone surrogates are dropped wherever text comes in."""
    ada.post("/studio/posts/new", title="a\x00\x1bb", source="c\x0bd\ufffee", place="draft")
    post = the_post(site)
    assert (post.title, post.source) == ("ab", "cde")
    raw = b"csrf_token=%s&source=x%%ED%%A0%%80y&place=draft" % ada.csrf.encode()
    answer = ada.client.post(
        "/studio/posts/new", data=raw, headers={"Referer": SITE_URL},
        content_type="application/x-www-form-urlencoded",
    )  # fmt: skip
    the_post(site, number(answer)).source.encode("utf-8")
    assert ada.client.get("/studio/posts?q=%00%ED%A0%80&after=%00").status_code == 200


def test_schedule_is_civil_time(ada: Browser, site: Site) -> None:
    """A schedule is read on the author's clock, daylight saving included."""
    set_settings(site, {"timezone": "Europe/Berlin"})
    answer = ada.post("/studio/posts/new", source="x", place="later", at="2024-07-01T08:00")
    assert str(the_post(site, number(answer)).scheduled_at) == "2024-07-01 06:00:00+00:00"
    assert 'value="2024-07-01T08:00"' in ada.get(answer.location or "")
    answer = ada.post("/studio/posts/new", source="x", place="later", at="2024-03-31T02:30")
    assert "02:30 does not exist on that day" in answer.text
    answer = ada.post("/studio/posts/new", source="x", place="later", at="2024-10-27T02:30")
    assert str(the_post(site, number(answer)).scheduled_at) == "2024-10-27 00:30:00+00:00"


def test_two_tabs(ada: Browser, site: Site, clock: FakeClock) -> None:
    """The second tab sees both texts and what differs, keeps its own, and may then save it."""
    make_post(site, "The cat sat.", author_id=1)
    ada.post("/studio/posts/1", source="The black cat sat.", base_version="1")
    answer = ada.post("/studio/posts/1", source="The cat sat down <b>.", base_version="1")
    assert answer.status_code == 409
    assert the_post(site).source == "The black cat sat."
    assert re.search(r"<del>[^/]*removed: </span>(black | black)</del>", answer.text)
    assert "down &lt;b&gt;" in answer.text
    assert "The cat sat down &lt;b&gt;.</textarea>" in answer.text
    assert "The black cat sat.</textarea>" in answer.text
    assert "This post was changed in another tab" in answer.text
    ada.post("/studio/posts/1", source="The black cat sat down.", base_version="2")
    assert the_post(site).source == "The black cat sat down."
    ben = make_author(site, "ben")
    with site.database.write() as db:
        posts.save(db, 1, Content("Of Ben."), 3, ben.id, clock())
    answer = ada.post("/studio/posts/1", source="Of Ada.", base_version="3")
    assert f"This post was changed by {ben.display_name}" in answer.text


def test_an_address_that_is_taken(ada: Browser, site: Site) -> None:
    """Who asks for the address of another post, present or former, is told which one it became."""
    make_post(site, "One.", title="First", author_id=1)
    make_post(site, "Two.", title="Second", author_id=1)
    ada.post("/studio/posts/1", source="One.", slug="moved", base_version="1", place="keep")
    for slug, made in (("moved", "moved-2"), ("First", "first-2")):
        version = str(the_post(site, 2).version)
        answer = ada.post("/studio/posts/2", source="Two.", slug=slug, base_version=version)
        notice = f"The address {slug.lower()} is taken: this one is {made}."
        assert notice in ada.get(answer.location or "")
    version = str(the_post(site, 2).version)
    answer = ada.post("/studio/posts/2", source="Two.", slug="Second", base_version=version)
    assert "taken" not in ada.get(answer.location or "")


def test_a_draft_that_went_out_meanwhile(ada: Browser, site: Site) -> None:
    """A page that still says "Draft" does not put half a text before readers; it is shown again."""
    make_post(site, "As published.", author_id=1)
    answer = ada.post("/studio/posts/1", source="Half a", base_version="1", place="draft")
    assert answer.status_code == 400
    assert "published by now" in answer.text
    assert "Half a</textarea>" in answer.text
    assert the_post(site).source == "As published."
    ada.post("/studio/posts/1", source="Half a text.", base_version="1", place="keep")
    assert the_post(site).source == "Half a text."


def test_saving_over_a_deleted_post(ada: Browser, site: Site) -> None:
    """A tab whose post was deleted keeps its text and can save it as a new post."""
    make_post(site, author_id=1)
    listed = ada.get(ada.post("/studio/posts/1/delete").location or "")
    assert re.search("Deleted: “.*A short note", listed)
    answer = ada.post("/studio/posts/1", source="Still here.", base_version="1")
    assert answer.status_code == 409
    assert "Still here.</textarea>" in answer.text
    assert 'action="/studio/posts/new"' in answer.text
