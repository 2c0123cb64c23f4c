"""What is read from a User-Agent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publisher.parts.readers.agents import LONGEST_AGENT, LONGEST_NAME, is_hub, parse_agent

CASES = [
    ("newsboat/2.30 (Linux x86_64)", "newsboat", "2.30", 0),
    ("rss2email/3.13 (https://rss2email.example/)", "rss2email", "3.13", 0),
    ("Mozilla/5.0 (compatible; Miniflux/2.0.51; +https://miniflux.app)", "Miniflux", "2.0.51", 0),
    ("Feedly/1.0 (+http://www.feedly.com/fetcher.html; 42 subscribers; )", "Feedly", "1.0", 42),
    ("Feedbin feed-id:1373711 - 1 subscribers", "Feedbin", "", 1),
    ("NewsBlur Feed Fetcher - 12 subscribers - https://x", "NewsBlur Feed Fetcher", "", 12),
    ("Tiny Tiny RSS/21.05 (https://tt-rss.org/)", "Tiny Tiny RSS", "21.05", 0),
    ("Inoreader/1.0 (+http://www.inoreader.com; 7 subscribers;)", "Inoreader", "1.0", 7),
    ("NetNewsWire (RSS Reader; https://netnewswire.com/)", "NetNewsWire", "", 0),
    ("feedparser/6.0.11 +https://github.com/kurtmckee/feedparser/", "feedparser", "6.0.11", 0),
    (
        "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0",
        "Firefox",
        "120.0",
        0,
    ),
    (
        "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/118.0.0.0 Safari/537.36",
        "Chrome",
        "118.0.0.0",
        0,
    ),
    (
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/118.0.0.0 Safari/537.36",
        "HeadlessChrome",
        "118.0.0.0",
        0,
    ),
    ("curl/8.5.0", "curl", "8.5.0", 0),
    ("", "unnamed", "", 0),
    ("///", "unnamed", "", 0),
]


@pytest.mark.parametrize(("text", "name", "version", "subscribers"), CASES)
def test_agents_of_the_field(text: str, name: str, version: str, subscribers: int) -> None:
    """Name, version and subscribers of the agents that blogs really see."""
    agent = parse_agent(text)
    assert (agent.name, agent.version, agent.subscribers) == (name, version, subscribers)


def test_a_forged_number_of_subscribers_is_cut_and_marked() -> None:
    """A claim of more than a million counts as a million, and says so."""
    agent = parse_agent("Liar/1.0 (999999999999 subscribers)")
    assert (agent.subscribers, agent.subscribers_capped) == (1_000_000, True)


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=12_000))
def test_any_bytes_make_a_short_printable_name(text: str) -> None:
    """Ten kilobytes, binary, markup: never an error, always bounded and printable."""
    agent = parse_agent(text)
    assert len(agent.text) <= LONGEST_AGENT
    assert 0 < len(agent.name) <= LONGEST_NAME
    assert (agent.text + agent.name + agent.version).isprintable()


@pytest.mark.parametrize(
    ("text", "hub"),
    [("AppEngine-Google; pubsubhubbub", True), ("Switchboard WebSub/1", True), ("Github", False)],
)
def test_hubs_are_known_by_their_agents(text: str, hub: bool) -> None:
    """Who fetches for a hub was asked to come."""
    assert is_hub(text) is hub
