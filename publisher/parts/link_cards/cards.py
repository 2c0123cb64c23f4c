"""Link cards as they are asked for and shown: rows of addresses that stand alone in a post."""

import re
from html import escape, unescape

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from publisher.blog.published import ALONE
from publisher.parts.link_cards.tables import LinkCard
from publisher.storage.tables.blog import Post

MOST = 100  # of one post


def request_of(session: Session, post: Post) -> None:
    """Have the cards of a post fetched that were never tried."""
    request(session, post.html)


def request(session: Session, html: str, again: bool = False) -> None:
    """Have the cards of these addresses fetched: those never tried, or all of them again."""
    addresses = [unescape(address) for _, address in ALONE.findall(html)][:MOST]
    if not addresses:
        return
    tried = set(session.scalars(select(LinkCard.url).where(LinkCard.url.in_(addresses))))
    for address in dict.fromkeys(addresses):
        if address not in tried and address.isascii():
            session.add(LinkCard(url=address, wanted=True))
    if again and tried:
        session.execute(update(LinkCard).where(LinkCard.url.in_(tried)).values(wanted=True))


def with_cards(session: Session, html: str) -> str:
    """A post's HTML with its addresses that stand alone as cards, where they were fetched."""
    addresses = [unescape(address) for _, address in ALONE.findall(html)]
    if not addresses:
        return html
    rows = select(LinkCard).where(LinkCard.url.in_(addresses), LinkCard.title != "")
    rows_by_url = {row.url: row for row in session.scalars(rows)}

    def card(match: re.Match[str]) -> str:
        row = rows_by_url.get(unescape(match[2]))
        return _card(row, "▶ " if match[1] == "video" else "") if row else match[0]

    return ALONE.sub(card, html)


def keeps_file(session: Session, mark: str) -> str:
    """Why a file must stay: a card shows it; else ""."""
    used = session.scalar(select(LinkCard.url).where(LinkCard.picture.contains(mark)).limit(1))
    return "the card of a link uses it" if used else ""


def _card(row: LinkCard, sign: str) -> str:
    picture = f'<img src="{escape(row.picture)}" alt="" loading="lazy">' if row.picture else ""
    words = f"<br>{escape(row.description)}" if row.description else ""
    return (
        f'<p class="card"><a href="{escape(row.url)}">{picture}<strong>{sign}{escape(row.title)}'
        f"</strong></a>{words}<br><small>{escape(row.site)}</small></p>"
    )
