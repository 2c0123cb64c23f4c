"""`/cards/<post>-<hash>.png`: the card of a post without a picture, kept as a file."""

from contextlib import suppress
from pathlib import Path
from threading import Lock

from flask import Blueprint, Response, redirect, send_file
from werkzeug.wrappers import Response as AnyResponse

from publisher.base.errors import NotFound
from publisher.base.whole_files import whole_file
from publisher.blog import published
from publisher.blog.post_files import cards, media
from publisher.blog.post_files.cards import Card
from publisher.storage.tables.blog import Post
from publisher.web.assets import YEAR_SECONDS
from publisher.web.context import site
from publisher.web.rendering import settings
from publisher.web.style import card_colours

blueprint = Blueprint("cards", __name__)

_drawing = Lock()  # one at a time: a crawl of the whole site must not take every thread


def card_address(post: Post) -> str:
    """The address of a post's card; "" without a title, or without a font for its characters."""
    if not cards.drawable(post.title):
        return ""
    return f"/cards/{post.id}-{_card(post).digest}.png"


@blueprint.get("/cards/<int:post_id>-<digest>.png")
def card(post_id: int, digest: str) -> AnyResponse:
    """The card of a published post; the address of an older version redirects to the present."""
    with site().database.read() as db:
        post = db.get(Post, post_id)
        if post is None or not published.is_public(post) or not cards.drawable(post.title):
            raise NotFound("there is no such picture")
        wanted = _card(post)
    if digest != wanted.digest:
        return redirect(f"/cards/{post_id}-{wanted.digest}.png")
    response: Response = send_file(_kept(post_id, wanted), mimetype="image/png", etag=digest)
    response.headers["Cache-Control"] = f"public, max-age={YEAR_SECONDS}, immutable"
    return response


def _card(post: Post) -> Card:
    chosen = settings()
    serif = chosen.look in ("book", "plain")
    round_portrait = chosen.logo if chosen.logo_shape == "round" else ""
    return Card(
        post.title,
        chosen.title,
        post.summary,
        *card_colours(chosen),
        font="serif-whole.woff2" if serif else "",
        portrait=round_portrait,
    )


def _kept(post_id: int, wanted: Card) -> Path:
    """The file of a card, made if it is missing; the post's older cards are then deleted."""
    folder = site().environment.instance / "cards"
    target = folder / f"{post_id}-{wanted.digest}.png"
    if target.is_file():
        return target
    with _drawing:
        if not target.is_file():
            folder.mkdir(exist_ok=True)
            name = wanted.portrait.removeprefix(media.PREFIX)
            face = b""
            if name:
                with suppress(OSError), site().environment.media.open(name) as picture:
                    face = picture.read()
            drawn = cards.draw(wanted, face)
            for old in folder.glob(f"{post_id}-*.png"):
                old.unlink(missing_ok=True)
            with whole_file(target) as file:
                file.write(drawn)
    return target
