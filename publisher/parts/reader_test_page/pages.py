"""`/reader-test`: the test feed for feed readers, if the setting `reader_test` is on.

Anybody may begin a test; the page limits how many. The feed's addresses take no cookie, and what is
asked there is kept in files of the instance folder (see `reader_test.testers`).
"""

from datetime import timedelta

from flask import Blueprint, Response, current_app, redirect, render_template, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from publisher.base.errors import NotFound
from publisher.base.net import network_of
from publisher.installation.settings import load
from publisher.parts.reader_test_page.settings import ReaderTestSettings
from publisher.reader_test import scorecard
from publisher.reader_test.tester_trace import form_fields
from publisher.reader_test.testers import ReaderTests
from publisher.web.context import now, site
from publisher.web.request_checks import Pace

pages = Blueprint("reader_test_pages", __name__)
blueprint = Blueprint("reader_test", __name__)

SPEEDS = {"1": "real time: a week", "7": "a day", "168": "an hour"}
_pace = Pace(5, timedelta(hours=1))


@pages.before_request
@blueprint.before_request
def _only_if_on() -> None:
    with site().database.read() as db:
        offered = load(db, ReaderTestSettings).reader_test == "on"
    if not offered:
        raise NotFound("there is no test for feed readers here")


def _testers() -> ReaderTests:
    """Those of this application: they count what each tester asks within a second."""
    extensions = current_app.extensions
    if "reader_tests" not in extensions:
        folder = site().environment.instance / "reader-test"
        extensions["reader_tests"] = ReaderTests(folder, site().clock)
    testers: ReaderTests = extensions["reader_tests"]
    return testers


def _base() -> str:
    return f"{site().site_url}/reader-test"


@pages.get("/reader-test")
def explain() -> str:
    """What the test is, and a form to begin one."""
    return render_template("reader_test_page/explain.html", speeds=SPEEDS)


@pages.post("/reader-test")
def begin() -> AnyResponse:
    """Make a tester, and show its page."""
    _pace.check(network_of(request.remote_addr or ""), now())
    speed = request.form.get("speed", "1")
    tester = _testers().make(float(speed) if speed in SPEEDS else 0.0)
    return redirect(url_for("reader_test_pages.card", word=tester.word), 303)


@pages.get("/reader-test/<word>/score")
def card(word: str) -> Response:
    """The address to subscribe to, and the score so far."""
    tester, address = _testers().named(word), f"{_base()}/{word}"
    score = _testers().card(_base(), word)
    page = render_template(
        "reader_test_page/score.html", feed=f"{address}/feed.xml", tester=tester,
        verdicts=Markup(scorecard.fragment(score)),  # noqa: S704  # nosec B704
        badge=f"{address}/badge.svg",
    )  # fmt: skip
    return _fresh(page, "text/html; charset=utf-8")


@pages.get("/reader-test/<word>/score.json")
def as_json(word: str) -> Response:
    """The score as JSON."""
    return _fresh(scorecard.as_json(_testers().card(_base(), word)), "application/json")


@pages.get("/reader-test/<word>/badge.svg")
def badge(word: str) -> Response:
    """The score as a badge."""
    return _fresh(scorecard.badge(_testers().card(_base(), word)), "image/svg+xml")


@blueprint.route("/reader-test/<word>/", defaults={"path": ""}, methods=["GET", "POST"])
@blueprint.route("/reader-test/<word>/<path:path>", methods=["GET", "POST"])
def feed(word: str, path: str) -> Response:
    """The test feed. A web server cannot break a connection off: 504 stands for such faults."""
    query = request.query_string.decode("ascii", "replace")
    served = _testers().answer(
        _base(), word, request.method, f"{path}?{query}" if query else path,
        {**dict(request.headers.items()), **form_fields(request.get_data())},
    )  # fmt: skip
    answer = Response(served.body, 504 if served.fault else served.status)
    answer.headers.clear()
    for name, value in served.headers:
        if name != "Date":  # the server's own
            answer.headers.add(name, value)
    if served.fault:
        answer.data = b"The connection would break off here.\n"
        answer.headers.clear()
    return answer


def _fresh(body: str, kind: str) -> Response:
    return Response(body, content_type=kind, headers={"Cache-Control": "no-store"})
