"""The simulator's publishers are the live decision: compiled, in plain Python and asked live."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

pytest.importorskip("numpy")

import numpy as np

from publisher.dynamic_ttl.core.civil import instant
from publisher.dynamic_ttl.core.ttl.activity import HALF_LIFE_DAYS, Activity, fold
from publisher.dynamic_ttl.core.ttl.decision import build_moment, decide
from publisher.dynamic_ttl.core.ttl.headers import seconds_left
from publisher.dynamic_ttl.core.ttl.rule import TtlRule
from publisher.simulator import publishers
from publisher.simulator.publishers import parse_publisher
from publisher.simulator.replaying.on_demand import Documents
from publisher.simulator.timelines import Timeline, cut, from_instants, read_timeline

START = int(datetime(2021, 10, 20, tzinfo=UTC).timestamp())
SPECS = [
    "forward",
    "forward:profile=day",
    "forward:menu=any,poll-minutes=20",
    "forward:planner=winer",
]


def habits(seed: int, days: int = 24, zone: str = "America/New_York") -> Timeline:
    """Some weeks of an author who posts at his hours, over the clock change of November."""
    rng = Random(seed)
    instants = {
        START + 86_400 * day + 3600 * hour + rng.randrange(3600)
        for day in range(days)
        for hour in (13, 14, 15, 19, 23)
        if rng.random() < 0.7
    }
    return from_instants("habits", instants, zone)


def said(documents: Documents, at: int) -> int:
    """What the feed said at `at`."""
    return int(documents.ttls[np.searchsorted(documents.built, at, side="right") - 1])


@pytest.mark.parametrize("spec", [*SPECS, "warm-up", "winer-constant", "winer"])
def test_compiled_and_plain_python_say_the_same(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same functions with and without numba give the same documents."""
    pytest.importorskip("numba")
    timeline = habits(1, days=12)
    compiled_documents = parse_publisher(spec)(timeline)
    monkeypatch.setattr(publishers, "available", lambda: False)
    plain = parse_publisher(spec)(timeline)
    ttls = [0, *plain.ttls]  # documents that are alike are not merged here
    changes = [place for place in range(len(plain.built)) if ttls[place] != ttls[place + 1]]
    assert compiled_documents.built.tolist() == [plain.built[place] for place in changes]
    assert compiled_documents.ttls.tolist() == [plain.ttls[place] for place in changes]
    assert np.asarray(compiled_documents.begins).tolist() == list(plain.begins)
    assert np.asarray(compiled_documents.expiries).tolist() == list(plain.expiries)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"])
def test_forward_is_the_live_decision(spec: str, zone: str) -> None:
    """At any moment, before the first update too, the feed says what `decide` says of the log up
    to the document's building."""
    timeline = habits(2, zone=zone)
    timeline = replace(timeline, start=timeline.start - 3 * 86_400)
    documents = parse_publisher(spec)(timeline)
    options = spec.partition(":")[2].replace("-minutes", "_minutes")
    rule = TtlRule.parse(**dict(part.split("=") for part in options.split(",") if part))
    rng = Random(spec)
    for at in sorted(rng.randrange(timeline.start, timeline.end) for _ in range(40)):
        known = [instant(int(t)) for t in timeline.times if t <= at]
        activity = fold(Activity.empty(zone, HALF_LIFE_DAYS), known)
        built = build_moment(activity.last_update, instant(at), zone)
        assert said(documents, at) == decide(activity, built, rule).ttl_minutes


SECOND_SET = Path(__file__).parents[2] / "bench" / "timelines"
TEN = (
    "awesome-go", "changelog-transcripts", "fastapi-notes", "github-trending-daily",
    "haskell-weekly", "homebrew-releases", "jekyll-news", "lucumr", "rustacean-station", "tz-news",
)  # fmt: skip


@pytest.mark.parametrize("name", TEN)
def test_real_blogs_get_the_live_decision(name: str) -> None:
    """At twenty instants of the last 300 days of each, element and headers are what `decide` says
    of the log."""
    timeline = cut(read_timeline(SECOND_SET / f"{name}.csv"), last_days=300)
    documents = parse_publisher("forward")(timeline)
    rng = Random(name)
    activity, number = Activity.empty(timeline.zone, HALF_LIFE_DAYS), 0
    for at in sorted(rng.randrange(timeline.start, timeline.end) for _ in range(20)):
        last = int(np.searchsorted(timeline.times, at, side="right"))
        activity = fold(activity, [instant(int(t)) for t in timeline.times[number:last]])
        number = last
        built = build_moment(activity.last_update, instant(at), timeline.zone)
        decision = decide(activity, built, TtlRule())
        assert said(documents, at) == decision.ttl_minutes
        place = np.searchsorted(documents.begins, at, side="right") - 1
        seconds = seconds_left(int(documents.expiries[place]), at)
        assert seconds == decision.max_age_seconds(instant(at))


def test_winer_is_the_live_decision_of_that_planner() -> None:
    """The publisher by its name says what `forward:planner=winer` says."""
    timeline = habits(4)
    named, asked = (parse_publisher(spec)(timeline) for spec in ("winer", "forward:planner=winer"))
    assert named.ttls.tolist() == asked.ttls.tolist()
    assert named.built.tolist() == asked.built.tolist()
    assert set(named.ttls.tolist()) == {15, 60, 480}


def test_the_future_does_not_leak() -> None:
    """What is published later changes nothing of what was said before."""
    timeline = habits(3)
    cut = START + 86_400 * 17 + 1234
    first = from_instants("past", [int(t) for t in timeline.times if t <= cut], timeline.zone, cut)
    for spec in SPECS:
        whole, past = parse_publisher(spec)(timeline), parse_publisher(spec)(first)
        for at in range(timeline.start, cut, 7919):
            assert said(whole, at) == said(past, at)


def test_winers_schedule_is_civil() -> None:
    """15, 60, 15 and 480 begin at 7, 14, 19 and 22 h of the author's clock, in both seasons."""
    built, ttls, *_ = parse_publisher("winer-constant")(habits(4))
    hours = {
        (instant(int(at)).astimezone(ZoneInfo("America/New_York")).hour, int(ttl))
        for at, ttl in zip(built[1:], ttls[1:], strict=True)
    }
    assert hours == {(7, 15), (14, 60), (19, 15), (22, 480)}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "forwards",
            "unknown publisher 'forwards'; did you mean 'forward'[?] known: forward, fixed",
        ),
        ("forward:tempo=3", "known: menu, planner, profile, poll-minutes, freshness, etag"),
        ("forward:skip-hours=learned", "skip-hours is gone"),
        ("forward:planner=oracle", "known: auto, planned, winer"),
        ("forward:menu=0/60", "between 1"),
        ("forward:menu=any:x", "limits are written"),
        ("fixed:0", "expected 1 to"),
    ],
)
def test_unknown_names_list_the_known_ones(spec: str, message: str) -> None:
    """One line says what is wrong and what there is."""
    with pytest.raises(ValueError, match=message):
        parse_publisher(spec)
