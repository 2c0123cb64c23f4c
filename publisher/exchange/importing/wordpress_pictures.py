"""WordPress pictures that are not in a post's text: its featured image, and galleries by id.

Both refer to attachments, which are items of the same export and may come after the post.
"""

import html
import re
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from publisher.exchange.importing.imported import ImportedPost

_GALLERY = re.compile(
    r"(?:<p>)?\[gallery\b[^\]]*?\bids=[\"\u201d\u2033']?([\d,\s]+)[^\]]*\](?:</p>)?"
)


@dataclass
class Pictures:
    """The attachments of an export, and which post has which as its featured image."""

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    featured: dict[str, str] = field(default_factory=dict)

    def look_at(self, item: Element) -> None:
        """Note what one item says: an attachment's address, or a post's featured image."""
        found = _values(item)
        number = found.get("post_id", "")
        if found.get("post_type") == "attachment" and found.get("attachment_url"):
            alt = found.get("meta:_wp_attachment_image_alt", "")
            self.files[number] = (found["attachment_url"], alt)
        elif thumbnail := found.get("meta:_thumbnail_id"):
            guid = (item.findtext("guid") or "").strip()
            self.featured[guid] = thumbnail

    def put_into(self, post: ImportedPost) -> ImportedPost:
        """The post with its galleries as pictures, and its featured image at the beginning."""
        source = _GALLERY.sub(lambda found: self._gallery(found[1]) or found[0], post.source)
        address, alt = self.files.get(self.featured.get(post.guid, ""), ("", ""))
        if address and _stem(address) not in source:
            source = f"{_figure(address, alt)}\n\n{source}"
        return post if source == post.source else replace(post, source=source)

    def _gallery(self, numbers: str) -> str:
        """The pictures with these ids as HTML; "" if none of them is in the export."""
        known = [self.files[one.strip()] for one in numbers.split(",") if one.strip() in self.files]
        return "\n\n".join(_figure(address, alt) for address, alt in known)


def _figure(address: str, alt: str) -> str:
    return f'<figure><img src="{html.escape(address)}" alt="{html.escape(alt)}"></figure>'


def _stem(address: str) -> str:
    """The address without its ending: smaller versions in a text begin the same."""
    return address.rpartition(".")[0] or address


def _values(item: Element) -> dict[str, str]:
    """WordPress's own fields of an item; custom fields as `meta:` and their key."""
    found: dict[str, str] = {}
    for child in item:
        name = str(child.tag).rpartition("}")[2]
        if name == "postmeta":
            parts = {str(part.tag).rpartition("}")[2]: (part.text or "").strip() for part in child}
            found[f"meta:{parts.get('meta_key', '')}"] = parts.get("meta_value", "")
        elif "wordpress.org/export/" in str(child.tag):
            found[name] = (child.text or "").strip()
    return found
