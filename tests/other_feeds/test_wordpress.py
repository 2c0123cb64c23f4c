"""The WordPress plugin, run by PHP's command line against a stub that fails on unknown calls."""

import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "integrations" / "wordpress" / "dynamic-ttl.php"
STUB = Path(__file__).parent / "wordpress_stub.php"
POSTED = "2024-11-01 09:00:00"  # as the stub says
SOURCE = "https://here.example/mirror/blog/ttl.json"

pytestmark = pytest.mark.skipif(shutil.which("php") is None, reason="php is not installed")


def advised(**changes: Any) -> dict[str, Any]:
    """What `/mirror/N/ttl.json` answers, this minute."""
    now = int(time.time())
    top = now - now % 3600
    answer: dict[str, Any] = {
        "ttl_minutes": 480, "max_age_seconds": 30_000, "hour_begins_at": top,
        "good_until": [top + 40_000] * 12, "update_period": "daily", "update_frequency": 3,
        "valid_until": top + 3600, "reasons": ["because"], "problem": "",
    }  # fmt: skip
    return answer | changes


ANYBODY = {
    "query": {"feed": "feed"}, "comments": False, "missing": False, "logged_in": False,
    "cookies": {}, "tag": "", "transitions": [],
}  # fmt: skip
PUBLISHED = ["publish", "draft", "post"]


def run(
    reply: dict[str, Any] | None,
    source: str | None = SOURCE,
    request: Mapping[str, Any] = ANYBODY,
    **transients: Any,
) -> dict[str, Any]:
    """The hooks called once, with this answer of the mirror (None: it does not answer)."""
    scenario = {"source": source, "reply": reply, "transients": transients, **request}
    done = subprocess.run(
        ["php", str(STUB), str(PLUGIN)],
        input=json.dumps(scenario), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def ok(answer: object) -> dict[str, Any]:
    return {"code": 200, "body": json.dumps(answer)}


@pytest.mark.parametrize("file", [PLUGIN, STUB], ids=["plugin", "stub"])
def test_php_reads_it(file: Path) -> None:
    """`php -l`."""
    lint = subprocess.run(["php", "-l", str(file)], capture_output=True, text=True, check=False)
    assert lint.returncode == 0, lint.stdout


def test_element_module_and_headers() -> None:
    """All that the mirror says, asked once for the whole page; other pages are left alone."""
    output = run(ok(advised()))
    assert output["head"] == "\t<ttl>480</ttl>\n"
    assert (output["period"], output["frequency"]) == ("daily", "3")
    until = advised()["good_until"][0]
    age = int(re.sub(r"\D", "", output["feed"]["Cache-Control"]))
    assert abs(age - (until - 60 - output["now"])) <= 2
    assert output["feed"]["CDN-Cache-Control"] == "max-age=60"
    assert (
        output["feed"]["X-Accel-Expires"] == "60"
    )  # nginx's, else it hides the next post for hours
    assert output["feed"]["Expires"].endswith(" GMT")
    assert output["feed"]["ETag"] == '"x"'
    assert output["page"] == {"Content-Type": "text/html; charset=UTF-8"}
    assert output["asked"] == [SOURCE]


def test_it_asks_once_an_hour() -> None:
    """What was kept is used until its hour is over."""
    first = run(ok(advised()))
    again = run(None, **first["kept"])
    assert (again["asked"], again["head"]) == ([], first["head"])
    old = {**first["kept"]["dynamic_ttl_answer"], "valid_until": int(time.time()) - 1}
    assert run(ok(advised(ttl_minutes=15)), dynamic_ttl_answer=old)["head"] == "\t<ttl>15</ttl>\n"


def later(stored: dict[str, Any], seconds: int) -> dict[str, Any]:
    """What was kept, as it is some seconds later."""
    answer = stored["dynamic_ttl_answer"]
    return {
        **stored,
        "dynamic_ttl_answer": answer | {"valid_until": answer["valid_until"] - seconds},
    }


def test_it_asks_a_minute_after_a_post() -> None:
    """Not at once: the mirror's own poll, which the post's ping causes, would get its old answer
    kept for the rest of the hour."""
    posted = run(ok(advised()), request=ANYBODY | {"transitions": [PUBLISHED]})["after_post"]
    poll = run(ok(advised()), **posted)
    assert (poll["asked"], poll["head"]) == ([], "\t<ttl>480</ttl>\n")
    after = run(ok(advised(ttl_minutes=15)), **later(poll["kept"], 61))
    assert (after["asked"], after["head"]) == ([SOURCE], "\t<ttl>15</ttl>\n")


def test_the_validators_move_when_the_plugin_learns() -> None:
    """A post's ttl is told some time after its date, the mirror's `unchanged_since`; those who have
    the post with the ttl before it get 200. The date does not go back in the next hour."""
    before = {"dynamic_ttl_answer": run(ok(advised()))["kept"]["dynamic_ttl_answer"] | {"since": 1}}
    learned = run(ok(advised(ttl_minutes=15, unchanged_since=1)), **later(before, 3700))
    assert learned["modified"][0] > f"{datetime.fromtimestamp(learned['now'] - 60, UTC):%F %T}"
    again = run(ok(advised(ttl_minutes=15, unchanged_since=1)), **later(learned["kept"], 3700))
    assert (again["asked"], again["modified"]) == ([SOURCE], learned["modified"])


def test_without_an_answer_the_last_word_holds() -> None:
    """And the mirror is left alone for a while: a reader never waits twice."""
    old = {
        **run(ok(advised()))["kept"]["dynamic_ttl_answer"],
        "valid_until": int(time.time()) - 1,
    }
    old["good_until"] = [int(time.time()) - 5] * 12
    output = run(None, dynamic_ttl_answer=old)
    assert output["head"] == "\t<ttl>480</ttl>\n"
    assert output["feed"]["Cache-Control"] == "public, max-age=28800"
    assert output["asked"] == [SOURCE]
    assert run(ok(advised()), **output["kept"])["asked"] == []


def test_without_an_answer_after_a_post_the_last_word_holds() -> None:
    """A mirror that is down when something is posted costs no ttl: the kept answer stays."""
    first = run(ok(advised()))
    posted = run(None, request=ANYBODY | {"transitions": [PUBLISHED]}, **first["kept"])
    output = run(None, **later(posted["after_post"], 61))
    assert (output["asked"], output["head"]) == ([SOURCE], first["head"])


def test_a_last_word_is_not_the_last_for_ever() -> None:
    """An hour after it ceased to be valid the feed is as WordPress makes it."""
    first, now = run(ok(advised()))["kept"]["dynamic_ttl_answer"], int(time.time())
    old = {"dynamic_ttl_answer": first | {"valid_until": now - 3500}}
    assert run(None, **old)["head"] == "\t<ttl>480</ttl>\n"
    output = run(None, dynamic_ttl_answer=first | {"valid_until": now - 3601})
    assert (output["head"], output["modified"]) == ("", [POSTED] * 2)
    assert "dynamic_ttl_answer" not in output["kept"]


def test_the_validators_move_with_the_ttl() -> None:
    """Else a reader that goes by the element would be told 304 and keep last night's."""
    first = run(ok(advised()))["kept"]["dynamic_ttl_answer"]
    since = int(time.time()) - 600
    text = f"{datetime.fromtimestamp(since, UTC):%F %T}"
    old = {"dynamic_ttl_answer": first | {"valid_until": 1, "since": 1}}
    assert run(ok(advised(unchanged_since=since)), **old)["modified"] == [text, POSTED]
    for nothing in (0, "x", None):
        assert run(ok(advised(unchanged_since=nothing)), **old)["modified"] == [POSTED] * 2
    assert run(None)["modified"] == [POSTED] * 2
    assert run(ok(advised()), request=ANYBODY | {"logged_in": True})["modified"] is None


def test_the_first_answer_is_another_feed() -> None:
    """Whoever has the feed of before the plugin gets the element, however long it has been true."""
    output = run(ok(advised(unchanged_since=1)))
    assert output["modified"][0] > f"{datetime.fromtimestamp(output['now'] - 60, UTC):%F %T}"
    assert output["modified"][1] == POSTED


@pytest.mark.parametrize(
    ("transition", "moves"),
    [
        (PUBLISHED, True),
        (["trash", "publish", "post"], True),
        (["draft", "auto-draft", "post"], False),
        (["publish", "draft", "page"], False),
    ],
)
def test_a_post_that_is_taken_back_moves_the_validators(transition: list[str], moves: bool) -> None:
    """WordPress' own date goes back then, ours does not: caches would keep what was withdrawn."""
    old = run(ok(advised()))["kept"]["dynamic_ttl_answer"] | {"since": 1}
    output = run(None, request=ANYBODY | {"transitions": [transition]}, dynamic_ttl_answer=old)
    assert (output["after_post"]["dynamic_ttl_answer"]["since"] > 1) is moves


@pytest.mark.parametrize("tag", ['"c0ffee"', 'W/"c0ffee"', '"c0ffee-gzip"', '"c0ffee-br"'])
def test_wordpress_knows_its_tag_again(tag: str) -> None:
    """Servers that compress mark it, and WordPress would never answer 304. A real one, behind the
    gzip of nginx and of Apache, did."""
    assert run(ok(advised()), request=ANYBODY | {"tag": tag})["tag"] == '"c0ffee"'
    comments = ANYBODY | {"tag": tag, "query": {"feed": "comments-rss2"}}
    assert run(ok(advised()), request=comments)["tag"] == tag


@pytest.mark.parametrize(
    "request_",
    [
        {"logged_in": True},  # private posts are in it
        {"cookies": {"wp-postpass_c0ffee": "x"}},  # protected posts are
        {"missing": True},
        {"query": {"feed": "comments-rss2"}},
        {"query": {"feed": "feed", "withcomments": "1"}},
        {"query": {"feed": "rss2", "name": "on-tides"}},
        {"query": {"feed": "feed", "p": 7}},
        {"query": {"feed": "feed", "error": "404"}},
        {"query": {"feed": "podcast"}},
    ],
)
def test_other_feeds_keep_their_headers(request_: dict[str, Any]) -> None:
    """Those of comments, of errors, and what only the logged-in may see stay out of caches."""
    output = run(ok(advised()), request=ANYBODY | request_)
    assert "Cache-Control" not in output["feed"]
    assert "Expires" not in output["feed"]


def test_comments_have_no_day() -> None:
    """The module of a comments' feed is as WordPress makes it."""
    output = run(ok(advised()), request=ANYBODY | {"comments": True})
    assert (output["period"], output["frequency"]) == ("hourly", "1")


def test_of_many_readers_one_waits() -> None:
    """While the mirror is asked nobody else asks; a good answer takes the mark away."""
    assert "dynamic_ttl_failed" not in run(ok(advised()))["kept"]
    assert run(ok(advised()), dynamic_ttl_failed=1)["asked"] == []


@pytest.mark.parametrize(
    "reply",
    [
        None,
        {"code": 503, "body": "{}"},
        {"code": 200, "body": "<html>"},
        ok([]),
        ok(advised(ttl_minutes="60<script>")),
        ok(advised(ttl_minutes=0)),
        ok(advised(valid_until=None)),
        ok({}),
    ],
)
def test_garbage_leaves_the_feed_as_it_is(reply: dict[str, Any] | None) -> None:
    """No element, WordPress' own module and headers."""
    output = run(reply)
    assert (output["head"], output["period"], output["frequency"]) == ("", "hourly", "1")
    assert "Cache-Control" not in output["feed"]


def test_unsaid_things_are_left_out() -> None:
    """A ttl that the module has no words for, and a plugin without an address."""
    output = run(ok(advised(ttl_minutes=45, update_period=None, update_frequency=None)))
    assert (output["head"], output["period"]) == ("\t<ttl>45</ttl>\n", "hourly")
    strange = run(ok(advised(update_period="<b>", good_until="x")))
    assert (strange["period"], strange["feed"]["Cache-Control"]) == (
        "hourly", "public, max-age=28800",
    )  # fmt: skip
    assert run(ok(advised()), source=None)["asked"] == []
