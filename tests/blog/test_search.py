"""Search: words are found in every script, inside sentences where a script writes no spaces."""

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from publisher.blog import published
from publisher.installation import Site
from publisher.storage.postgresql import on_server
from publisher.storage.schema import MIGRATIONS
from tests.factories import make_post

TEXTS = {
    "ja": "昨日、東京タワーへ行きました。とても高かったです。",
    "zh": "我们昨天去了北京大学图书馆，看了很多书。",
    "th": "เมื่อวานนี้ฉันไปตลาดน้ำกับเพื่อนสนิท",
    "mixed": "新しいiPhone版を出しました。",
    "ar": "ذهبت إلى السوق مع صديقي",
    "en": "Yesterday I went to the tower.",
}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("東京", {"ja"}), ("タワー", {"ja"}), ("京", {"ja", "zh"}), ("高かった", {"ja"}),
        ("北京大学", {"zh"}), ("图书馆 昨天", {"zh"}), ("京北", set()), ("東京大学", set()),
        ("ตลาดน้ำ", {"th"}), ("เพื่อน", {"th"}), ("น้ำตลาด", set()),
        ("iPhone", {"mixed"}), ("iphone版", {"mixed"}), ("السوق", {"ar"}), ("السو", {"ar"}),
        ("towe", {"en"}), ("wer", set()), ("、。", set()),
    ],
)  # fmt: skip
def test_every_script(site: Site, query: str, found: set[str]) -> None:
    """A word is found where it stands in a sentence, and only where its characters stand so."""
    numbers = {make_post(site, source).id: name for name, source in TEXTS.items()}
    with site.database.read() as db:
        hits = published.search(db, query)
    assert {numbers[hit.number] for hit in hits} == found
    for hit in hits:
        assert "\u200b" not in hit.excerpt
        assert "\x02" in hit.excerpt


def test_a_word_that_a_long_post_says_very_often(site: Site) -> None:
    """A visitor cannot keep the server busy with it: the time of FTS5's own excerpt grows with the
    square of the matches, to minutes. What is around the first one is shown."""
    often = " ".join(f"word{number % 90}" for number in range(20_000))
    make_post(site, f"The beginning is not like this: {'very ' * 90}Çedilla, then {often}")
    make_post(site, "ab " * 9_000 + TEXTS["ja"])
    with site.database.read() as db:
        for query, words in {
            "beginning word": "The \x02beginning\x03 is not like this:",
            "word": "very Çedilla, then \x02word0\x03 \x02word1\x03",
            "東京": "\x02東京\x03",
        }.items():
            (hit,) = published.search(db, query)
            assert words in hit.excerpt or on_server(db), query
            assert len(hit.excerpt) < 400, query
            assert "\u200b" not in hit.excerpt, query


def test_excerpts_mark_the_word(site: Site) -> None:
    """What is shown is the sentence as it was written, the word marked as one."""
    make_post(site, TEXTS["ja"])
    with site.database.read() as db:
        (hit,) = published.search(db, "東京")
    assert hit.excerpt == TEXTS["ja"].replace("東京", "\x02東京\x03")


@pytest.mark.sqlite("a full-text index of an older version, which it alone had")
def test_older_indexes_are_made_anew(site: Site) -> None:
    """The migration lets posts of before be found as well."""
    make_post(site, TEXTS["ja"])
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    with site.database.engine.execution_options(immediate=True).begin() as connection:
        connection.execute(text("DELETE FROM post_search"))
        row = {"body": TEXTS["ja"]}
        connection.execute(
            text("INSERT INTO post_search (rowid, title, body) VALUES (1, '', :body)"), row
        )
        connection.execute(text("UPDATE alembic_version SET version_num = '0013_mirrors'"))
        config.attributes["connection"] = connection
        command.upgrade(config, "0014_dense_scripts")
    with site.database.read() as db:
        assert [hit.number for hit in published.search(db, "東京")] == [1]
