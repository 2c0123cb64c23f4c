"""Cards: a picture for links to posts that have none."""

import io
import re

import pytest
from flask.testing import FlaskClient
from PIL import Image

from publisher.blog.post_files import cards
from publisher.installation import Site
from tests.factories import delete_post, make_post, set_settings


def card_of(client: FlaskClient, place: str) -> str:
    """The path of the picture that a page names."""
    page = client.get(place).text
    match = re.search(r'property="og:image" content="https://blog.example([^"]+)"', page)
    return match[1] if match else ""


def test_a_card_is_made_once_and_follows_the_title(
    client: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a small PNG, kept as a file; a new name makes another, to which the old one leads."""
    made: list[cards.Card] = []
    draw = cards.draw

    def drawn(card: cards.Card, portrait: bytes) -> bytes:
        made.append(card)
        return draw(card, portrait)

    monkeypatch.setattr(cards, "draw", drawn)
    make_post(site, "Text.", title="Walking through the city " * 6)
    place = "/posts/" + "-".join(["walking-through-the-city"] * 3)
    first = card_of(client, place)
    for _ in range(2):
        with client.get(first) as answer:
            assert answer.status_code == 200
            assert "immutable" in answer.headers["Cache-Control"]
            image = Image.open(io.BytesIO(answer.data))
            assert image.size == (1200, 630)
            assert 2_000 < len(answer.data) < 40_000
            assert len(image.convert("RGB").getcolors(100_000) or []) > 3
    set_settings(site, {"title": "Another name"})
    second = card_of(client, place)
    assert second != first
    assert client.get(first).location == second
    with client.get(second) as answer:
        assert answer.status_code == 200
    assert [card.name for card in made] == ["Untitled blog", "Another name"]
    assert len(list((site.environment.instance / "cards").iterdir())) == 1


def test_no_card_where_none_is_needed_or_possible(client: FlaskClient, site: Site) -> None:
    """A picture of the post's own comes first; notes, drafts and unknown scripts have none."""
    make_post(site, "![x](/media/x.jpg)", title="With a picture")
    assert card_of(client, "/posts/with-a-picture") == "/media/x.jpg"
    make_post(site, "A note.")
    assert card_of(client, "/posts/a-note") == ""
    make_post(site, "Text.", title="\U00012000\U00012001")  # cuneiform
    assert client.get("/cards/3-0123456789ab.png").status_code == 404
    hidden = make_post(site, "Text.", title="Hidden")
    address = card_of(client, "/posts/hidden")
    delete_post(site, hidden.id)
    assert client.get(address).status_code == 404
    assert client.get("/cards/99-0123456789ab.png").status_code == 404
