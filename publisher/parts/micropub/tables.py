"""The table of authorization codes."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from publisher.storage.columns import Base
from publisher.storage.tables.credentials import Author


class AuthorizationCode(Base):
    """An author's consent to a program that has not fetched its token yet (IndieAuth).

    `challenge` is the hash of the program's own secret; the code is kept as a hash too.
    """

    __tablename__ = "authorization_codes"
    code_hash: Mapped[str] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey(Author.id, ondelete="CASCADE"), index=True)
    client_id: Mapped[str]
    redirect_uri: Mapped[str]
    scope: Mapped[str]
    challenge: Mapped[str]
    expires_at: Mapped[datetime]
    author: Mapped[Author] = relationship(lazy="joined")
