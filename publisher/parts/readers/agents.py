"""Parsing of User-Agents: name, version, kind of program, and number of subscribers it claims."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

LONGEST_AGENT, LONGEST_NAME, LONGEST_VERSION = 200, 60, 24
MOST_SUBSCRIBERS = 1_000_000  # a larger claim is cut and marked

Kind = Literal["reader", "browser", "search engine", "monitor"]

_COMPATIBLE = re.compile(r"compatible;\s*([^;/()]+?)\s*(?:/\s*([^;()\s]+))?\s*(?=[;()]|$)")
_PRODUCT = re.compile(r"([^/();,+]*[^/();,+\s-])(?:\s*/\s*v?([\w.+~-]+))?")
_BROWSERS = re.compile(r"\b(Firefox|Edg|OPR|Vivaldi|HeadlessChrome|Chrome|Version)/([\d.]+)")
_NAMED = {"Edg": "Edge", "OPR": "Opera", "Version": "Safari"}
_NOISE = re.compile(r"\bfeed-?id[:=]\S+|\s-\s.*")
_SUBSCRIBERS = re.compile(r"(\d{1,18})\s*(?:subscriber|reader|user)s?\b", re.IGNORECASE)
_HUB = re.compile(r"pubsubhubbub|websub|superfeedr|\bhub\b|rsscloud", re.IGNORECASE)
_FEED_WORDS = re.compile(r"feed|rss|atom|news|reader|podcast|blog|aggregat", re.IGNORECASE)
# Searched for in the lower-case User-Agent.
_SEARCH = (
    "googlebot", "google-extended", "googleother", "bingbot", "bingpreview", "slurp", "duckduckbot",
    "baiduspider", "yandexbot", "yandeximages", "applebot", "petalbot", "sogou", "seznambot",
    "qwantbot", "mojeekbot", "marginalia", "archive.org_bot", "ia_archiver", "ccbot", "gptbot",
    "oai-searchbot", "claudebot", "perplexitybot", "bytespider", "amazonbot", "semrushbot",
    "ahrefsbot", "mj12bot", "dotbot", "facebookexternalhit", "meta-externalagent",
)  # fmt: skip
_MONITOR = (
    "uptime", "pingdom", "statuscake", "site24x7", "hetrix", "updown.io", "betterstack",
    "better stack", "blackbox", "check_http", "nagios", "icinga", "zabbix", "newrelic", "datadog",
    "synthetics", "freshping", "monitor", "healthcheck", "statuspage", "status page", "status-page",
    "gatus", "checkly", "ohdear", "oh dear", "publisher-doctor",
)  # fmt: skip
# Programs that fetch for a person's terminal or for a program of somebody's own.
_TOOLS = re.compile(
    r"curl|wget|httpie|postman|python-|python/|aiohttp|go-http|libwww|lwp|perl|java/|okhttp|axios|"
    r"node|guzzle|scrapy|ruby|.*\bscript\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Agent:
    """A parsed User-Agent; `subscribers` is its own claim, 0 where it makes none; `without_claim`:
    the text without that number, which changes."""

    text: str
    without_claim: str
    name: str
    version: str
    subscribers: int
    subscribers_capped: bool
    kind: Kind

    @property
    def one_program(self) -> bool:
        """Whether all its addresses belong to one program: a service, a search engine."""
        return self.subscribers > 0 or self.kind == "search engine"

    @property
    def people(self) -> int:
        """The people it reads for: its claim, else one; none for tools, scripts, and what is no
        reader."""
        if self.kind != "reader" or _TOOLS.match(self.name):
            return 0
        return max(self.subscribers, 1)


@lru_cache(maxsize=8192)
def parse_agent(raw: str) -> Agent:
    """Read a User-Agent as it came over the wire (bytes as latin-1); never fails."""
    text = _clean(raw)
    name, version = _product(text)
    claim = max((int(number) for number in _SUBSCRIBERS.findall(text)), default=0)
    return Agent(
        text,
        _SUBSCRIBERS.sub("", text),
        name[:LONGEST_NAME].strip() or "unnamed",
        version[:LONGEST_VERSION],
        min(claim, MOST_SUBSCRIBERS),
        claim > MOST_SUBSCRIBERS,
        _kind(text),
    )


def is_hub(raw: str) -> bool:
    """Whether an agent fetches for a hub or a cloud, which our ping asked to come."""
    return _HUB.search(raw) is not None


def _kind(text: str) -> Kind:
    small = text.lower()
    if any(mark in small for mark in _SEARCH):
        return "search engine"
    if any(mark in small for mark in _MONITOR):
        return "monitor"
    if (
        text.startswith(("Mozilla/", "Opera/"))
        and _BROWSERS.search(text)
        and "compatible;" not in text
        and not _FEED_WORDS.search(text)
    ):
        return "browser"
    return "reader"


def _clean(raw: str) -> str:
    """Printable text of bounded length, whatever was sent."""
    text = raw[:LONGEST_AGENT].encode("latin-1", "replace").decode("utf-8", "replace")
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())


def _product(text: str) -> tuple[str, str]:
    if match := _COMPATIBLE.search(text):
        return match[1], match[2] or ""
    if text.startswith(("Mozilla/", "Opera/")) and (browser := _BROWSERS.search(text)):
        return _NAMED.get(browser[1], browser[1]), browser[2]
    match = _PRODUCT.match(_NOISE.sub("", text))
    return (match[1].strip(), match[2] or "") if match else ("", "")
