"""The table of passkeys."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column, relationship

from publisher.storage.columns import Base
from publisher.storage.tables.credentials import Author


class Passkey(Base):
    """The public key of a passkey with which an author logs in."""

    __tablename__ = "passkeys"
    id: Mapped[int] = mapped_column(primary_key=True)
    author_id: Mapped[int] = mapped_column(ForeignKey(Author.id, ondelete="CASCADE"), index=True)
    credential_id: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger, default=0)
    label: Mapped[str]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    author: Mapped[Author] = relationship(lazy="joined")
