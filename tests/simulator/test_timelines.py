"""Timelines: what is read from files, and what is refused with which words."""

from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import pytest

from publisher.base.errors import InvalidData, InvalidInput
from publisher.simulator.timelines import (
    Timeline,
    cut,
    from_instants,
    merged,
    read_timeline,
    scoring,
)

NOON = 1_700_049_600  # 2023-11-15T12:00:00Z


def written(folder: Path, text: str, name: str = "blog.csv") -> Path:
    """`text` as a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_shapes_of_instants(tmp_path: Path) -> None:
    """Z, offsets either way, fractions, lower case, quotes, other columns and CRLF are read."""
    text = (
        "title,updated_at\r\n"
        "a,2023-11-15T12:00:00Z\r\n"
        'b,"2023-11-15T13:00:01+01:00"\r\n'
        "c,2023-11-15T06:30:02-05:30\r\n"
        "d,2023-11-15T12:00:03.25Z\r\n"
        "two posts in one second are one update,2023-11-15T12:00:03.75Z\r\n"
        "e,2023-11-15t12:00:04z\r\n"
    )
    line = read_timeline(written(tmp_path, text))
    assert line.times == [NOON + step for step in range(5)]
    assert (line.name, line.zone, line.start, line.end) == ("blog", "UTC", NOON, NOON + 5)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "line 1: expected a CSV file with a column updated_at"),
        ("when\n2023-11-15T12:00:00Z\n", "line 1: expected a CSV file with a column updated_at"),
        ("updated_at\n", "no updates after the header"),
        ("updated_at\n2023-11-15T12:00:00Z\nyesterday\n", "line 3: "),
        ("updated_at\n2023-11-15T12:00:00Z\n\n2023-11-16T12:00:00Z\n", "line 3: "),
        ("updated_at\n2023-02-29T12:00:00Z\n", "line 2: "),
        ("updated_at\n2023-11-15T12:00:00\n", "line 2: the offset is missing (Z or +hh:mm): '2"),
        ("updated_at\n2023-11-15T24:00:00Z\n2023-11-15T25:00:00Z\n", "line 3: "),
        ("updated_at\n2023-11-15T12:00:00+24:00\n", "line 2: "),
        ("updated_at\n9999-01-01T00:00:00Z\n", "line 2: the year must lie in 1970-2105: '9999"),
        ("updated_at\n1969-12-31T23:59:59Z\n", "line 2: the year must lie in 1970-2105: '1969"),
        ("updated_at\n2150-01-01T00:00:00Z\n", "line 2: the year must lie in 1970-2105: '2150"),
        ("updated_at\n\x00\x01\n", "line 2: "),
        ('updated_at,x\n"2023-11-15T12:00:00Z', "line 2"),
    ],
)
def test_bad_files_are_refused_with_the_line(tmp_path: Path, body: str, message: str) -> None:
    """Each kind of bad row names its line, in one line."""
    if "x\n" in body:
        body = body.replace("2023", "2O23")
    with pytest.raises(InvalidData) as error:
        read_timeline(written(tmp_path, body))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_binary_one_are_refused(tmp_path: Path) -> None:
    """Neither makes a traceback."""
    with pytest.raises(InvalidData, match="No such file"):
        read_timeline(tmp_path / "none.csv")
    (tmp_path / "picture.csv").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(InvalidData, match="line 1"):
        read_timeline(tmp_path / "picture.csv")


def test_zone_and_holes_come_from_the_tables_beside(tmp_path: Path) -> None:
    """index.csv names the zone, holes.csv what nobody observed; an option goes before."""
    path = written(tmp_path, "updated_at\n2023-11-15T12:00:00Z\n2023-12-15T12:00:00Z\n")
    written(tmp_path, "slug,timezone\nother,Asia/Tokyo\nblog,Europe/Berlin\n", "index.csv")
    holes = "slug,from,to\nblog,2023-11-20T00:00:00Z,2023-11-21T00:00:00Z\n" * 2
    written(tmp_path, holes, "holes.csv")
    line = read_timeline(path)
    assert line.zone == "Europe/Berlin"
    assert line.holes == ((NOON + 388_800, NOON + 475_200),)
    assert read_timeline(path, "Asia/Kolkata").zone == "Asia/Kolkata"
    assert read_timeline(path, "new york").zone == "America/New_York"
    with pytest.raises(InvalidInput, match="no time zone is called"):
        read_timeline(path, "Mars/Olympus")
    written(tmp_path, "slug,timezone\nblog,Nowhere\n", "index.csv")
    with pytest.raises(InvalidData, match=r"index\.csv: no time zone is called"):
        read_timeline(path)
    written(tmp_path, "slug,timezone\n", "index.csv")
    written(tmp_path, "slug,from,to\nblog,2023-11-20T00:00:00Z,\n", "holes.csv")
    with pytest.raises(InvalidData, match=r"holes\.csv"):
        read_timeline(path)


def test_holes_that_touch_are_joined() -> None:
    """Overlapping and adjacent holes become one, in order."""
    assert merged([(50, 60), (10, 20), (20, 30), (12, 15)]) == ((10, 30), (50, 60))


def test_rows_may_come_in_any_order(tmp_path: Path) -> None:
    """An export lists the newest first; the same instant again is the same update."""
    days = ("2023-11-17T12:00:00Z", "2023-11-15T12:00:00Z", "2023-11-17T13:00:00+01:00")
    line = read_timeline(written(tmp_path, "\n".join(("updated_at", *days))))
    assert line.times == [NOON, NOON + 2 * 86400]


def test_many_rows_are_read_fast(tmp_path: Path) -> None:
    """Two hundred thousand rows take a second or two."""
    stamps = (datetime.fromtimestamp(at, UTC).strftime("%FT%TZ") for at in range(200_000))
    path = written(tmp_path, "\n".join(("updated_at", *stamps)))
    begin = process_time()
    line = read_timeline(path)
    assert process_time() - begin < 5
    assert len(line.times) == 200_000
    assert line.times[:: 10**4] == list(range(0, 200_000, 10**4))


def test_cut_forgets_what_was_before() -> None:
    """From, to and the last days, from the first update in them; nothing left is an error."""
    line = from_instants("x", [NOON + day * 86400 for day in (3, 0, 1, 1, 9)])
    assert line.times == [NOON + day * 86400 for day in (0, 1, 3, 9)]
    assert cut(line, NOON + 1, NOON + 4 * 86400).times == [NOON + 86400, NOON + 3 * 86400]
    recent = cut(line, last_days=7)
    assert (recent.start, recent.times) == (
        NOON + 3 * 86400,
        [NOON + d * 86400 for d in (3, 9)],
    )
    with pytest.raises(InvalidData, match="no updates in the time asked for"):
        cut(line, NOON + 4 * 86400, NOON + 5 * 86400)
    with pytest.raises(InvalidData, match="there are no updates"):
        from_instants("x", [])


@pytest.mark.parametrize(
    ("offsets", "end"), [([0], 1), ([0, 3600], 7200), ([0, 86400 * 4 - 60], 86400 * 4)]
)
def test_a_timeline_too_short_to_score_is_refused(offsets: list[int], end: int) -> None:
    """Where learning and cooling down leave nothing, the message says how long it was."""
    times = [NOON + offset for offset in offsets]
    with pytest.raises(InvalidData, match=r"nothing to score: of \d updates"):
        scoring(Timeline("short", times, NOON, NOON + end))


def test_open_timelines_are_read_whole() -> None:
    """All 38 real timelines, where they are at hand: as many updates as their index says."""
    folder = Path(__file__).parents[3] / "shared" / "timelines"
    if not (folder / "index.csv").is_file():
        pytest.skip("the real timelines are not beside this checkout")
    rows = [line.split(",") for line in (folder / "index.csv").read_text().splitlines()[1:]]
    lines = [read_timeline(folder / f"{row[0]}.csv") for row in rows]
    assert sum(len(line.times) for line in lines) == 355_336
    assert datetime.fromtimestamp(lines[0].start, UTC).year == 2022
