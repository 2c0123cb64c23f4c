"""What is read from one line, whoever wrote it."""

import json
from datetime import UTC, datetime

import pytest

from publisher.access_logs.line_formats import LogLine, read_line
from tests.access_logs import lines

AT = datetime(2024, 3, 4, 9, 30, 0, 250_000, tzinfo=UTC)
AT_MS = 1_709_544_600_250
BARE = {"tags": 'W/"a"', "etag": 'W/"b"', "max_age": 900, "coding": "gzip", "cache": "HIT"}

CADDY = {
    "level": "info", "ts": AT.timestamp(), "logger": "http.log.access", "size": 300, "status": 200,
    "request": {
        "remote_ip": "192.0.2.1", "client_ip": "192.0.2.1", "proto": "HTTP/2.0", "method": "GET",
        "host": "blog.example", "uri": "/rss.xml?x=1",
        "headers": {"User-Agent": ["newsboat/2.30"], "If-None-Match": ['W/"a"']},
    },
    "resp_headers": {
        "Etag": ['W/"b"'], "Cache-Control": ["public, max-age=900"], "Content-Encoding": ["gzip"],
        "Cache-Status": ["Souin; hit; ttl=1"],
    },
}  # fmt: skip
CLOUDFLARE = {
    "ClientIP": "192.0.2.1", "ClientRequestMethod": "GET", "ClientRequestURI": "/rss.xml?x=1",
    "ClientRequestUserAgent": "newsboat/2.30", "EdgeResponseStatus": 200,
    "EdgeResponseBodyBytes": 300, "EdgeStartTimestamp": AT_MS * 1_000_000, "RayID": "8f00ba4",
    "CacheCacheStatus": "hit", "RequestHeaders": {"if-none-match": 'W/"a"'},
    "ResponseHeaders": {
        "etag": 'W/"b"', "cache-control": "public, max-age=900", "content-encoding": "gzip",
    },
}  # fmt: skip


def whole(log: str, **more: object) -> LogLine:
    """The request that all these lines tell of."""
    fields = {**BARE, **more}
    return LogLine(
        AT_MS,
        log,
        "192.0.2.1",
        "newsboat/2.30",
        "GET",
        "/rss.xml",
        200,
        300,
        **fields,  # type: ignore[arg-type]
    )


def test_all_formats_say_the_same() -> None:
    """Times, validators, what was told, the cache's word: each format's own names for them."""
    own = lines.nginx(AT, b=300, inm='W/"a"', e='W/"b"', ce="gzip")
    assert read_line(own.strip()) == whole("nginx")
    assert read_line(
        lines.nginx(AT, pop="FRA", id="x", inm='W/"a"', e='W/"b"', ce="gzip", b=300).strip()
    ) == whole("fastly", key="x")
    assert read_line(json.dumps(CADDY)) == whole("caddy")
    assert read_line(json.dumps(CLOUDFLARE)) == whole("cloudflare", cache="hit", key="8f00ba4")
    for moment in ("2024-03-04T09:30:00.25Z", AT_MS / 1000, AT_MS):
        assert read_line(json.dumps({**CLOUDFLARE, "EdgeStartTimestamp": moment})).at_ms == AT_MS
    text = (
        '192.0.2.1 - - [04/Mar/2024:10:30:00 +0100] "GET /rss.xml?x=1 HTTP/1.1" 200 300 "-" '
        '"newsboat/2.30"'
    )
    assert read_line(text) == whole(
        "combined", tags="", etag="", max_age=None, coding=None, cache=""
    )._replace(at_ms=AT_MS - 250)


def test_who_has_counted_it() -> None:
    """What a cache passed on was counted by the site, unless the line says that it was not."""
    for word in ("MISS", "EXPIRED", "miss", "dynamic", "MISS-CLUSTER", "PASS"):
        assert read_line(lines.nginx(AT, c=word).strip()).passed_on
        assert not read_line(lines.nginx(AT, c=word, by="log").strip()).passed_on
    for word in ("HIT", "STALE", "UPDATING", "", "HIT-CLUSTER"):
        assert not read_line(lines.nginx(AT, c=word).strip()).passed_on


def test_paths_and_agents_are_those_of_the_sites_own_counter() -> None:
    """Decoded, each byte a character; an agent cannot bring line breaks."""
    encoded = read_line(lines.nginx(AT, p="/tags/caf%C3%A9/rss.xml").strip())
    decoded = read_line(lines.nginx(AT, "é\n", p="/tags/café/rss.xml").strip())
    assert encoded.path == decoded.path == "/tags/caf\xc3\xa9/rss.xml"
    assert decoded.agent == "\xc3\xa9 "


@pytest.mark.parametrize(
    "text",
    [
        "", "garbage", "{", "{}", "[]", "{" * 50_000, '{"t": 1}', '{"t": "x", "a": "", "p": "/"}',
        '{"t": 1e400, "a": "", "p": "/", "s": 200}', '{"t": NaN, "a": "", "p": "/", "s": 200}',
        '{"t": -5, "a": "", "p": "/", "s": 200}', '{"t": 1, "a": "", "p": "/", "s": "many"}',
        '{"t": 1, "a": "", "p": "/", "s": 200, "b": -1}', '{"request": 5}', '{"request": {}}',
        '{"EdgeStartTimestamp": "yesterday", "ClientIP": ""}',
        '{"EdgeStartTimestamp": "2024-03-04T09:30:00", "ClientIP": ""}',
        '1 - - [99/Foo/2024:10:30:00 +0100] "GET / HTTP/1.1" 200 300',
        '1 - - [99/Mar/2024:10:30:00 +0100] "GET / HTTP/1.1" 200 300',
        '1 - - [04/Mar/2024:10:30:00 +0100] "GET ' + "\\" * 60_000,
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_in_words(text: str) -> None:
    """One kind of error, at once, whatever stands there."""
    with pytest.raises(ValueError, match=r"^.{3,120}$"):
        read_line(text)


@pytest.mark.parametrize("start", ["blog.example:443 ", ""])
@pytest.mark.parametrize("user", ["-", "ada", "ada lovelace"])
@pytest.mark.parametrize("target", ["/rss.xml?a=1", "https://blog.example/rss.xml", "/rss.xml"])
def test_kin_of_the_combined_format(start: str, user: str, target: str) -> None:
    """Apache's vhost_combined, a user's name with a blank, a whole address as proxies are asked."""
    line = (
        f'{start}203.0.113.2 - {user} [25/Nov/2026:01:00:07 +0000] "GET {target} HTTP/1.1" 304 0'
        ' "-" "NetNewsWire"'
    )
    read = read_line(line)
    assert (read.address, read.path, read.status) == ("203.0.113.2", "/rss.xml", 304)


@pytest.mark.parametrize(
    "line", ['{"remote_addr": "1.2.3.4", "request": "GET / HTTP/1.1"}', '{"request": "GET /"}']
)
def test_a_json_format_that_is_not_known(line: str) -> None:
    """The reason is one for people."""
    with pytest.raises(ValueError, match=r"JSON of a format that is not known here|is missing"):
        read_line(line)
