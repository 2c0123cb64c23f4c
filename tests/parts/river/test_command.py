"""The `river` commands as they are typed: what they print, and how they refuse."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from publisher.cli import main
from tests.databases import work_on
from tests.parts.river.conftest import origin
from tests.parts.river.origin import Origin, Reply, conditional, rss

__all__ = ["origin"]  # a fixture

HTML = {"Content-Type": "text/html"}


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, its lines, its complaints."""

    code: int
    out: str
    err: str


Typed = Callable[..., Done]


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Typed]:
    """Types a `river` command on an instance of its own, through the real entry point."""
    work_on(tmp_path / "instance", monkeypatch)
    monkeypatch.setenv("PUBLISHER_ALLOW_PRIVATE", "1")

    def run(*words: str, stdin: str = "") -> Done:
        source = tmp_path / "stdin"
        source.write_text(stdin, "utf-8")
        monkeypatch.setattr("sys.argv", ["publisher", "river", *words])
        capfd.readouterr()
        code = 0
        with source.open(encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            try:
                main()
            except SystemExit as end:
                code = int(end.code or 0)
        return Done(code, *capfd.readouterr())

    yield run
    monkeypatch.undo()


def refused(done: Done, code: int, words: str) -> None:
    """One clear line on standard error, nothing on standard output, the right exit code."""
    assert (done.code, done.out) == (code, "")
    assert words in done.err
    assert done.err.startswith("publisher: ")
    assert done.err.count("\n") == 1


@pytest.fixture
def followed(typed: Typed, origin: Origin) -> str:
    """A feed that is followed already."""
    url = origin.serve("/f", conditional(rss("b", "a", ttl=120), '"1"'))
    assert typed("add", url, "--policy", "ttl", "--folder", "friends").out == f"{url}\n"
    return url


def test_add_by_the_address_of_a_site(typed: Typed, origin: Origin) -> None:
    """The announced feed is followed; two requests were made."""
    feed = origin.serve("/feed", Reply(200, rss("a"), {"ETag": '"1"'}))
    page = (
        '<html><head><link rel="alternate" type="application/rss+xml" href="/feed"></head></html>'
    )
    site = origin.serve("/", Reply(200, page.encode(), HTML))
    assert typed("add", site).out == f"{feed}\n"
    assert [entry.target for entry in origin.log] == ["/", "/feed"]


def test_add_a_feed_behind_a_login(typed: Typed, origin: Origin) -> None:
    """The password comes from standard input."""
    url = origin.serve(
        "/f",
        lambda headers: (
            Reply(200, rss("a"), {"ETag": '"1"'})
            if headers.get("authorization") == "Basic dTpw"
            else Reply(401, b"", {"WWW-Authenticate": "Basic"})
        ),
    )
    done = typed("add", url, "--user", "u", "--password-stdin", stdin="p\n")
    assert (done.code, done.out, done.err) == (0, f"{url}\n", "")


def test_add_although_the_server_fails(typed: Typed, origin: Origin) -> None:
    """It is followed all the same, and the reader is told."""
    url = origin.serve("/f", Reply(500, b"broken"))
    done = typed("add", url)
    assert (done.code, done.out) == (0, f"{url}\n")
    assert "status 500: broken" in done.err


def test_add_refuses(typed: Typed, origin: Origin) -> None:
    """What cannot be followed is refused, and nothing is followed."""
    url = origin.serve("/f", Reply(200, rss("a")))
    html = origin.serve("/h", Reply(200, b"<html></html>", HTML))
    for words, code, complaint in (
        (["ftp://a.example/f"], 2, "only http and https"),
        (["http://"], 2, "no host"),
        ([url, "--policy", "magic"], 2, "magic"),
        ([url, "--policy", "doubling:factor=x"], 2, "factor"),
        ([html], 1, "web page, not a feed"),
        ([], 2, "URL"),
    ):
        refused(typed("add", *words), code, complaint)
    assert json.loads(typed("list", "--json").out) == []


def test_add_twice(typed: Typed, followed: str) -> None:
    """What is followed already is refused without a request."""
    refused(typed("add", followed), 1, "already subscribed")


def test_list(typed: Typed, followed: str) -> None:
    """Each subscription with the fields that scripts rely on; short for people."""
    (row,) = json.loads(typed("list", "--json").out)
    expected = {"url": followed, "title": "A feed", "policy": "ttl", "status": 200, "items": 2}
    assert {name: row[name] for name in expected} == expected
    assert row["last_polled_at"] < row["next_poll_at"]
    assert (row["state"], row["problem"], row["folder"]) == ("active", "", "friends")
    assert typed("list").out == f"{followed}\t200\t{row['next_poll_at']}\n"


def test_poll_what_is_due(typed: Typed, followed: str, origin: Origin, tmp_path: Path) -> None:
    """Nothing is due after it was just added; what was imported is."""
    assert typed("poll").out == "0 polled, 0 new items\n"
    assert len(origin.log) == 1
    second = origin.serve("/g", Reply(200, rss("c"), {"ETag": '"1"'})).replace(
        "127.0.0.1", "localhost"
    )
    file = tmp_path / "list.opml"
    third = "http://later.example/feed"
    outlines = "".join(f'<outline xmlUrl="{url}"/>' for url in (second, third))
    file.write_text(f'<opml version="2.0"><body>{outlines}</body></opml>')
    typed("import", str(file))
    assert typed("poll").out == (
        "1 polled, 1 new item\n1 new feed to come, one a second: poll again\n"
    )


def test_poll_on_demand_is_limited(typed: Typed, followed: str, origin: Origin) -> None:
    """Once now, not a second time within the hour."""
    assert typed("poll", followed).out == f"{followed}: status 304\n"
    refused(typed("poll", followed), 1, "again in")
    assert len(origin.log) == 2


def test_why(typed: Typed, followed: str) -> None:
    """The moment, then the chain of reasons."""
    lines = typed("why", followed).out.splitlines()
    assert re.fullmatch(r"next poll \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", lines[0])
    assert lines[1].startswith("ttl 2 h")
    assert " -> next poll in 2 h" in lines[1]


def test_remove(typed: Typed, followed: str) -> None:
    """It is gone from the list."""
    assert typed("remove", followed).code == 0
    assert typed("list").out == ""


def test_what_nobody_follows(typed: Typed) -> None:
    """An address that is not followed is named in the refusal."""
    for command in ("remove", "why", "poll"):
        done = typed(command, "http://nobody.example/f")
        assert done.code == 2, command
        refused(done, 2, "http://nobody.example/f")


def test_addresses_that_are_none(typed: Typed) -> None:
    """What can be no address is a wrong argument."""
    for command in ("remove", "why", "poll", "add"):
        done = typed(command, "http://[bad")
        assert done.code == 2, command
        refused(done, 2, "http://[bad")


def test_export_and_import(typed: Typed, followed: str, tmp_path: Path) -> None:
    """What is exported can be imported; what is known stays as it is, what is bad is named."""
    exported = typed("export").out
    assert f'xmlUrl="{followed}"' in exported
    more = '<outline xmlUrl="http://new.example/f"/><outline xmlUrl="ftp://old.example/f"/></body>'
    file = tmp_path / "list.opml"
    file.write_text(exported.replace("</body>", more), "utf-8")
    done = typed("import", str(file))
    assert done.out == "added 1, known 1, left out 1\n"
    assert "left out: " in done.err
    assert "ftp://old.example/f" in done.err
    assert len(json.loads(typed("list", "--json").out)) == 2


def test_import_refuses(typed: Typed, tmp_path: Path) -> None:
    """Broken XML, other documents and entities are data errors."""
    file = tmp_path / "list.opml"
    for text in ("", "<opml>", "<html></html>", "<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"):
        file.write_text(text, "utf-8")
        done = typed("import", str(file))
        assert done.code == 1, text
        refused(done, 1, "this is not an OPML file")
    assert typed("list").out == ""


def test_import_of_no_file(typed: Typed, tmp_path: Path) -> None:
    """A file that is not there is a wrong argument."""
    refused(typed("import", str(tmp_path / "none.opml")), 2, "there is no file")


def visits(*hashes: str) -> str:
    lines = [
        {"url": "http://a.example/", "timestamp": 86400 * day, "hash": text}
        for day, text in enumerate(hashes, 1)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_observe(typed: Typed) -> None:
    """An answer when a group is full, across two runs: the history is kept."""
    assert typed("observe", "--visits", "4", stdin=visits("a", "a")).out == ""
    done = typed("observe", "--visits", "4", stdin=visits("a", "a", "b", "b"))
    (answer,) = [json.loads(line) for line in done.out.splitlines()]
    names = ["url", "estimated_frequency_seconds", "next_interval_seconds", "reasons"]
    assert list(answer) == names
    assert answer["estimated_frequency_seconds"] == 3 * 86400


def test_observe_leaves_out_what_it_cannot_read(typed: Typed) -> None:
    """Bad lines are named by number, the good ones count, and the exit code says so."""
    done = typed("observe", "--visits", "2", stdin=visits("a") + "nonsense\n" + visits("a", "b"))
    assert done.code == 1
    assert done.err.startswith("line 2: ")
    assert done.err.endswith("publisher: lines left out: 1\n")
    assert len(done.out.splitlines()) == 1


def test_observe_refuses(typed: Typed) -> None:
    """Options that make no sense are wrong arguments."""
    for words, complaint in (
        (["--estimator", "magic"], "known: changes, nochanges"),
        (["--visits", "1"], "--visits"),
        (["--visits", "many"], "--visits"),
    ):
        refused(typed("observe", *words, stdin=visits("a")), 2, complaint)


def test_what_there_is_not(typed: Typed) -> None:
    """Unknown commands, options and further words are wrong arguments."""
    for words in (["drink"], ["run", "x"], ["export", "x"], ["list", "--yaml"]):
        refused(typed(*words), 2, words[-1])


def test_why_as_json(typed: Typed, followed: str) -> None:
    explained = json.loads(typed("why", "--json", followed).out)
    assert explained["url"] == followed
    assert explained["reasons"][-1].startswith("next poll in ")
    assert (explained["state"], explained["problem"], explained["gaps"]) == ("active", None, [])


def test_retry(typed: Typed, followed: str) -> None:
    """Nothing has failed, so nothing is asked."""
    assert typed("retry").out == "0 tried again, 0 still failing\n"


def test_show_and_hide(typed: Typed, followed: str) -> None:
    typed("show", followed)
    assert [row["public"] for row in json.loads(typed("list", "--json").out)] == [True]
    typed("hide", "--folder", "friends")
    assert [row["public"] for row in json.loads(typed("list", "--json").out)] == [False]


def test_a_move_is_accepted_and_remarks_are_answered(typed: Typed, origin: Origin) -> None:
    """A blog that moved with all its ids and titles goes on at its new address."""
    old = origin.serve("/f", Reply(200, rss("b", "a"), {}))
    typed("add", old)
    refused(typed("accept-move", old), 1, "not redirected to another address")
    second = rss("d", "c", title="Other").replace(b"http://feed.", b"https://other.")
    new = origin.serve("/new", Reply(200, second, {}))
    origin.serve("/f", Reply(301, b"", {"Location": "/new"}))
    assert "looks like another feed" in typed("poll", old).out
    assert typed("accept-move", old).out == f"{new}\n"
    why = json.loads(typed("why", old, "--json").out)
    assert (why["url"], why["problem"], why["remarks"]) == (new, None, [])
    assert json.loads(typed("list", "--json").out)[0]["remarks"] == []


def test_an_address_where_nothing_is(typed: Typed, origin: Origin) -> None:
    """404 is mostly a typing mistake, so it is asked about; --anyway follows it all the same."""
    url = origin.url + "/typo.xml"
    refused(typed("add", url), 1, "nothing is there (404)")
    assert json.loads(typed("list", "--json").out) == []
    assert typed("add", url, "--anyway").out == f"{url}\n"
    assert json.loads(typed("list", "--json").out)[0]["url"] == url


def test_a_feed_is_fetched_whole(typed: Typed, followed: str, origin: Origin) -> None:
    """For a server that answers 304 for ever: no validators are sent."""
    assert typed("poll", followed, "--whole").out == f"{followed}: status 200\n"
    assert "if-none-match" not in origin.log[-1].headers
    refused(typed("poll", "--whole"), 2, "--whole needs the address of a feed")
