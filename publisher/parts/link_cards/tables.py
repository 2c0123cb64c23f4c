"""The table of link cards."""

from sqlalchemy.orm import Mapped, mapped_column

from publisher.storage.columns import Base


class LinkCard(Base):
    """What the page at an address that stands alone in a post is called; `picture` is a file of
    ours. `wanted`: it is to be fetched. Without a title the link stands as it was typed."""

    __tablename__ = "link_cards"
    url: Mapped[str] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(default="", server_default="")
    description: Mapped[str] = mapped_column(default="", server_default="")
    site: Mapped[str] = mapped_column(default="", server_default="")
    picture: Mapped[str] = mapped_column(default="", server_default="")
    wanted: Mapped[bool] = mapped_column(index=True)
