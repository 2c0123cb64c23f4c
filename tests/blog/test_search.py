"""Search: words are found in every script, inside sentences where a script writes no spaces."""

import unicodedata
from itertools import chain

from sqlalchemy import text

from publisher.blog import published
from publisher.installation import Site
from publisher.storage.full_text import POSTS
from publisher.storage.postgresql import on_server
from tests.factories import make_post

TEXTS = {
    "ja": "昨日、東京タワーへ行きました。とても高かったです。",
    "zh": "我们昨天去了北京大学图书馆，看了很多书。",
    "th": "เมื่อวานนี้ฉันไปตลาดน้ำกับเพื่อนสนิท",
    "mixed": "新しいiPhone版を出しました。",
    "ar": "ذهبت إلى السوق مع صديقي",
    "en": "Yesterday I went to the tower.",
    "ko": "한국어 문장입니다. 국립도서관에 갔습니다.",
    "ru": "Ёлка стояла; всё ещё зелёная.",
    "de": "Die Straße nach Gießen ist GROẞ.",
    "fr": "L’œuvre d’un cœur, à Ærø près de Łódź.",
}
# What each query finds.
FOUND: dict[str, set[str]] = {
    "東京": {"ja"}, "タワー": {"ja"}, "京": {"ja", "zh"}, "高かった": {"ja"},
    "北京大学": {"zh"}, "图书馆 昨天": {"zh"}, "京北": set(), "東京大学": set(),
    "ตลาดน้ำ": {"th"}, "เพื่อน": {"th"}, "น้ำตลาด": set(),
    "iPhone": {"mixed"}, "iphone版": {"mixed"}, "السوق": {"ar"}, "السو": {"ar"},
    "towe": {"en"}, "wer": set(), "、。": set(),
    "한국": {"ko"}, "문장": {"ko"}, "도서관": {"ko"}, "국한": set(),
    unicodedata.normalize("NFD", "한국어 문장"): {"ko"}, "문장 한국": {"ko"},
    "елка": {"ru"}, "ёлка": {"ru"}, "все еще зеленая": {"ru"}, "всё ещё": {"ru"},
    "strasse": {"de"}, "straße": {"de"}, "stra": {"de"}, "gross": {"de"},
    "giessen groß": {"de"}, "oeuvre": {"fr"}, "œuvre": {"fr"}, "coeur": {"fr"},
    "aero": {"fr"}, "lodz pres": {"fr"}, "près łódź": {"fr"}, "ovre": set(),
}  # fmt: skip


def test_every_script(site: Site) -> None:
    """A word is found where it stands in a sentence, and only where its characters stand so."""
    numbers = {make_post(site, source).id: name for name, source in TEXTS.items()}
    with site.database.read() as db:
        hits = {query: published.search(db, query) for query in FOUND}
    assert {query: {numbers[hit.number] for hit in hits[query]} for query in FOUND} == FOUND
    for hit in chain.from_iterable(hits.values()):
        assert hit.excerpt.replace("\x02", "").replace("\x03", "") == TEXTS[numbers[hit.number]]
        assert "\x02" in hit.excerpt


def test_a_word_that_a_long_post_says_very_often(site: Site) -> None:
    """A visitor cannot keep the server busy with it: the time of FTS5's own excerpt grows with the
    square of the matches, to minutes. What is around the first one is shown."""
    often = " ".join(f"word{number % 90}" for number in range(8_000))
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


def test_an_index_of_before_is_made_anew(site: Site) -> None:
    """An upgrade lets what was indexed by other rules be found as well, and shows the same."""
    numbers = {name: make_post(site, source).id for name, source in TEXTS.items()}
    index = POSTS
    with site.database.write() as db:
        plain = "UPDATE post_search SET title = '', body = :body WHERE rowid = :id"
        words = "UPDATE post_search SET words = to_tsvector('simple', :body) WHERE id = :id"
        for name, source in TEXTS.items():
            row = {"id": numbers[name], "body": source}
            db.execute(text(words if on_server(db) else plain), row)
    with site.database.read() as db:
        assert not published.search(db, "도서관")
    with site.database.write() as db:
        index.renew(db, "posts")
        index.renew(db, "posts")
    with site.database.read() as db:
        for query, name in {"東京": "ja", "도서관": "ko", "елка": "ru", "strasse": "de"}.items():
            (hit,) = published.search(db, query)
            assert (hit.number, "\x02" in hit.excerpt) == (numbers[name], True)
            assert hit.excerpt.replace("\x02", "").replace("\x03", "") == TEXTS[name]


def test_the_body_is_searched_whole_in_each_writing(site: Site) -> None:
    """A long body's excerpt is ours: it marks the word as the text has it."""
    make_post(site, f"{'ab ' * 9_000} zur Straße mit Żółty und ёлка, 국립도서관에")
    with site.database.read() as db:
        marked = {
            "strasse": "Straße",
            "zolty": "Żółty",
            "елка": "ёлка",
            "서관": "서관",
            "stra": "Straße",
        }
        for query, word in marked.items():
            (hit,) = published.search(db, query)
            assert f"\x02{word}\x03" in hit.excerpt, query
            assert len(hit.excerpt) < 400
