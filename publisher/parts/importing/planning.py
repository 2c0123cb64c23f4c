"""The plan of an import (which posts are new, known or changed), and its report in sentences.

`manual_steps` lists what an import leaves to a person: pictures, shortcodes, empty texts, links.

Imported posts, checked and rendered: all the work that needs no database.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from html import unescape
from itertools import islice
from typing import TypeVar
from urllib.parse import unquote, urljoin, urlsplit

from sqlalchemy import exists, select
from sqlalchemy.orm import Session, selectinload

from publisher.base.errors import FieldErrors, InvalidData
from publisher.base.system.confined import at_most
from publisher.base.text import counted, plain_text
from publisher.blog.markup import markdown
from publisher.blog.published import is_listed
from publisher.blog.slug_words import slug_from, slugify
from publisher.blog.slugs import RESERVED
from publisher.blog.writing import content
from publisher.blog.writing.content import FIELDS, Content
from publisher.blog.writing.posts import LATEST_SCHEDULE, path_of
from publisher.feed_reading.lazy_pictures import loading_at_once
from publisher.parts.importing import images
from publisher.parts.importing.formats.fields import identity, old_path
from publisher.parts.importing.html_to_markdown import markdown_of
from publisher.parts.importing.images import without_addresses
from publisher.parts.importing.imported import Batch, ImportedPost, is_web_address
from publisher.parts.importing.sites.template_words import changed_outside_code
from publisher.storage.tables.blog import Post, Redirect, Revision, Update
from publisher.storage.tables.credentials import Author

T = TypeVar("T")


@dataclass(frozen=True)
class PreparedPost:
    """A post that can be stored: its content checked, its HTML safe, its state settled.

    `words` is the plain text of the HTML, for the search and for a slug of a post without a title.
    """

    post: ImportedPost
    content: Content
    html: str
    words: str

    @property
    def label(self) -> str:
        """What a report calls it."""
        return self.content.title or self.words[:80] or self.post.where

    @property
    def wanted_slug(self) -> str:
        """The slug it should have, else one made of its title or text; "" if it has neither."""
        return self.content.slug or slug_from(self.content.title, self.words)

    @property
    def shown_at(self) -> datetime | None:
        """When the post entered the feed; None if it is not listed there."""
        return self.post.published_at if is_listed(self.post) else None

    @property
    def old_paths(self) -> list[str]:
        """The former addresses of the post, as paths on this site."""
        paths = (
            old_path(address) for address in (self.post.address, *self.post.aliases) if address
        )
        return list(dict.fromkeys(path for path in paths if path))


def prepare(batch: Batch, now: datetime, language: str = "en") -> Iterator[PreparedPost]:
    """The batch's posts in order, each once; its `notes` count what was changed or left out.

    `language` is the blog's, whose quotation marks replace straight ones.

    What cannot be a post at all is named in `left_out`.
    """
    texts: dict[str, tuple[str, bytes]] = {}
    for post in batch.posts:
        if (alone := _with_own_guid(post, texts)) is None:
            batch.left_out.append((_name(post), "it is in the source twice; the first is used"))
        else:
            yield from _checked(_with_fitting_state(alone, batch.notes, now), batch, language)


def _with_own_guid(post: ImportedPost, texts: dict[str, tuple[str, bytes]]) -> ImportedPost | None:
    """The post with a guid that no other has; None for one that was there already.

    Programs that copy posts copy their guids: only the same address or text is the same post.
    """
    text = hashlib.sha256(f"{post.title}\0{post.source}".encode("utf-8", "replace")).digest()[:12]
    address = post.address if is_web_address(post.address) else ""
    for guid in (post.guid, identity("", address, post.title + post.source)):
        first = texts.get(guid)
        if first is None:
            texts[guid] = address, text
            return replace(
                post, guid=guid, guid_is_permalink=post.guid_is_permalink and guid == post.guid
            )
        if first[1] == text or (address and first[0] == address):
            return None
    return None


def _name(post: ImportedPost) -> str:
    """What a report calls a post that is not imported."""
    return post.title[:80] or post.where


def _with_fitting_state(post: ImportedPost, notes: Counter[str], now: datetime) -> ImportedPost:
    """The post with a state that fits its date: a draft without one, scheduled if it is to come.

    A scheduled post whose date is past stays scheduled: it is due, and published as usual.
    """
    date = post.published_at
    if date is not None and date > LATEST_SCHEDULE:
        if post.status == "deleted":
            return replace(post, published_at=None)
        reason = f"its date is too far away, so it became a draft: {date:%Y-%m-%d}"
        return replace(post, status="draft", published_at=None, needs=(*post.needs, reason))
    if post.status == "published" and post.kind == "page" and date is None:
        return replace(post, published_at=now)
    if post.status in ("published", "scheduled") and date is None:
        notes["post without a date becomes a draft"] += 1
        return replace(post, status="draft")
    if post.status == "published" and date is not None and date > now:
        return replace(post, status="scheduled")
    return post


def _checked(post: ImportedPost, batch: Batch, language: str) -> Iterator[PreparedPost]:
    """The post's content, checked, and its HTML; nothing when it is empty or beyond our limits."""
    try:
        with at_most(SECONDS):
            prepared = _rendered(post, batch.notes, language)
    except (FieldErrors, InvalidData) as error:
        batch.left_out.append((_name(post), str(error)))
        return
    if prepared is None:
        batch.notes["empty post is left out"] += 1
    else:
        yield prepared


def _rendered(post: ImportedPost, notes: Counter[str], language: str) -> PreparedPost | None:
    if post.source_format == "html":
        post = replace(post, source=loading_at_once(post.source))
    else:
        post = replace(post, source=changed_outside_code(post.source, loading_at_once))
    if post.as_markdown and post.source_format == "html" and post.source.strip():
        if text := markdown_of(post.source, language):
            post = replace(post, source=text, source_format="markdown")
        else:
            notes["post stays HTML: Markdown cannot say all of it"] += 1
    fitting = _fitting(post, notes)
    if content.is_empty(fitting):
        return None
    value = content.checked(fitting)
    rows = value.gallery == "rows"
    anchor = _anchor(post.guid)
    html = markdown.rendered(value.source, value.source_format, anchor, language, rows)
    return PreparedPost(post, value, html, plain_text(html))


def _anchor(guid: str) -> str:
    """The prefix of ids inside one post, made from its guid, as its number is not known yet."""
    return f"i{hashlib.sha256(guid.encode('utf-8', 'replace')).hexdigest()[:8]}-"


def _fitting(post: ImportedPost, notes: Counter[str]) -> Content:
    """The post's content within our limits; a slug without a usable letter is left out."""
    value = content.of(post)
    for content_field in FIELDS:
        name = content_field.name
        part, note = content_field.fitted(getattr(value, name))
        value = replace(value, **{name: part})
        if note and name != "image":  # which is told of each post, when pictures were copied
            notes[note] += 1
    return replace(value, slug=slugify(value.slug))


SECONDS = 20.0  # for one post
_NO_SOURCE = re.compile(r"<img\b(?![^<>]*\ssrc=)[^<>]*>")
_PICTURE = re.compile(r'<img\b[^<>]*?\ssrc="([^"]*)"')
_LINK = re.compile(r'<a\b[^<>]*?\shref="([^"]*)"')


def manual_steps(
    session: Session,
    posts: Callable[[], Iterable[PreparedPost]],
    pictures: Mapping[str, str] | None,
    stored: bool,
) -> Iterator[tuple[str, str, str, str]]:
    """What a person has to do: the post's guid and title, what, and where to do it ("" if the posts
    are not `stored`). Up to a colon, `what` is the same for all posts of a kind.

    `pictures`: why each of those that were looked for could not be copied, "" for one that can;
    None if none was looked for.
    """
    paths = set[str]()
    for some in in_batches(posts()):
        lines = list[tuple[str, str, str]]()
        for prepared in some:
            needs, links = [*_of_post(prepared, pictures)], [*_local_links(prepared)]
            if links and not paths:  # all addresses, only where somebody asks
                paths = _known_paths(session, [] if stored else posts())
            needs += [
                f"a link leads nowhere here: {link}"
                for link, spellings in links
                if paths.isdisjoint(spellings)
            ]
            lines += [(prepared.post.guid, prepared.label, what) for what in needs]
        guids = {guid for guid, *_ in lines} if stored else set()
        ids: dict[str, int] = dict(
            session.execute(select(Post.guid, Post.id).where(Post.guid.in_(guids))).all()
        )
        for guid, label, what in lines:
            yield guid, label, what, f"/studio/posts/{ids[guid]}" if guid in ids else ""


def in_batches(values: Iterable[T]) -> Iterator[list[T]]:
    """The values, some hundred at a time."""
    left = iter(values)
    while batch := list(islice(left, _AT_ONCE)):
        yield batch


def _known_paths(session: Session, posts: Iterable[PreparedPost]) -> set[str]:
    """The paths of all posts and pages, and of what redirects; of `posts` those to come."""
    paths = {path_of(kind, slug) for kind, slug in session.execute(select(Post.kind, Post.slug))}
    paths |= {*session.scalars(select(Redirect.path))}
    for prepared in posts:
        paths |= {path_of(prepared.content.kind, prepared.wanted_slug), *prepared.old_paths}
    return {path.rstrip("/") for path in paths}


def _of_post(prepared: PreparedPost, pictures: Mapping[str, str] | None) -> Iterator[str]:
    yield from prepared.post.needs
    if not prepared.content.source.strip() and prepared.content.enclosure is None:
        yield "it has no text"
    if _NO_SOURCE.search(prepared.html):
        yield "a picture has no address"
    if (own := prepared.post.image) and not prepared.content.image:
        why = (pictures or {}).get(images.name_of(prepared.post, own))
        yield f"its picture is not here: {own}{f' ({why})' if why else ''}"
    for address in dict.fromkeys(map(unescape, _PICTURE.findall(prepared.html))):
        name = images.name_of(prepared.post, address)
        if is_web_address(name):
            if pictures and pictures.get(name):
                shown = "a picture could not be copied and is shown from its old address"
                yield f"{shown}: {address} ({pictures[name]})"
        elif not images.is_ours(address):
            if pictures is None:
                yield f"a picture is not here, as pictures were not copied (--images): {address}"
            elif why := pictures.get(name, "it is not in the source"):
                yield f"a picture could not be copied: {address} ({why})"


def _local_links(prepared: PreparedPost) -> Iterator[tuple[str, set[str]]]:
    """The links to posts and pages of this site, as they are written, and their paths: with the
    query, and without it, which is looked at as well."""
    address = path_of(prepared.content.kind, prepared.wanted_slug)
    for link in dict.fromkeys(map(unescape, _LINK.findall(prepared.html))):
        try:
            parts = urlsplit(link)
            path = unquote(urlsplit(urljoin(address, link)).path)
        except ValueError:
            yield link, {link}
            continue
        if parts.scheme or parts.netloc or not parts.path:
            continue
        plain = path.rstrip("/")
        top = path[1:].partition("/")[0]
        if plain.startswith("/posts/") or top not in {"", "about", *RESERVED}:
            yield link, {plain, f"{path}?{parts.query}".rstrip("/")}


_AT_ONCE = 500
_UNDATED = datetime.max.replace(tzinfo=UTC)  # drafts come last


@dataclass
class Plan:
    """New posts, oldest first; changed ones with our post id; how many stay as they are here.

    `new` and `changed` have indices in `posts`. `edited_here` are changed in the source and were
    edited here since: ours stay. `author_ids` maps a name in the source to one of our authors, ""
    to the author of all other posts. `counted`: instants of loaded history; a post of the same
    second was counted already. Of the new posts: how many there are by state, how many former
    `addresses` and `updates` they have, and the first and last moment of these; how many are public
    and `lost` their address, as the source does not say it.
    """

    posts: Sequence[PreparedPost] = ()
    new: list[int] = field(default_factory=list)
    changed: list[tuple[int, int]] = field(default_factory=list)
    unchanged: int = 0
    edited_here: int = 0
    author_ids: dict[str, int] = field(default_factory=dict)
    strangers: Counter[str] = field(default_factory=Counter)
    counted: set[datetime] = field(default_factory=set)
    states: Counter[str] = field(default_factory=Counter)
    addresses: int = 0
    lost: int = 0
    updates: int = 0
    span: tuple[datetime, datetime] | None = None

    @property
    def concerned(self) -> list[int]:
        """Where the new and the changed posts are."""
        return [*self.new, *(place for _, place in self.changed)]

    def new_posts(self) -> Iterator[PreparedPost]:
        """The new posts, read again one by one."""
        return (self.posts[place] for place in self.new)

    def update_at(self, prepared: PreparedPost) -> datetime | None:
        """When a new post is an update; None if it is none, or the log has counted it already."""
        return None if prepared.shown_at in self.counted else prepared.shown_at

    def author_id(self, names: Iterable[str]) -> int | None:
        """Our author for the first of `names` that we know."""
        ids = (self.author_ids.get(name.casefold()) for name in [*names, ""])
        return next((author_id for author_id in ids if author_id is not None), None)


def make_plan(
    session: Session,
    posts: Sequence[PreparedPost],
    everybody_else: Author | None,
    coming: Iterable[str] = (),
) -> Plan:
    """Compare the posts that were read with ours; writes nothing.

    Posts whose author we do not know go to `everybody_else`, or to nobody. `coming` are names of
    authors that the import will add, for a plan that is made before that.
    """
    plan = Plan(posts, author_ids=_authors(session))
    fresh = session.scalar(select(Post.id).limit(1)) is None
    dates: dict[int, datetime] = {}
    for start in range(0, len(posts), _AT_ONCE):
        some = posts[start : start + _AT_ONCE]
        guids = [
            guid for prepared in some for guid in (prepared.post.guid, *prepared.post.formerly)
        ]
        by_guid = {} if fresh else _stored_posts(session, guids)
        plan.counted |= _counted(
            session, {prepared.shown_at for prepared in some if prepared.shown_at}
        )
        for place, prepared in enumerate(some, start):
            former = (by_guid[guid] for guid in prepared.post.formerly if guid in by_guid)
            ours = by_guid.get(prepared.post.guid) or next(former, None)
            if ours is None:
                dates[place] = prepared.post.published_at or _UNDATED
                _count_new(plan, prepared, coming)
                continue
            post_id, value, stays = ours
            if same(value, prepared.content):
                plan.unchanged += 1
            elif stays:
                plan.edited_here += 1
            else:
                plan.changed.append((post_id, place))
    plan.new = sorted(dates, key=dates.__getitem__)
    if everybody_else is not None:
        plan.author_ids[""] = everybody_else.id
    return plan


def is_lost(prepared: PreparedPost) -> bool:
    """Whether a post is public and its old address is not known."""
    return prepared.post.status == "published" and not prepared.old_paths


def _count_new(plan: Plan, prepared: PreparedPost, coming: Iterable[str]) -> None:
    out = prepared.post.status == "published"
    plan.states["page" if out and prepared.content.kind == "page" else prepared.post.status] += 1
    plan.addresses += len(prepared.old_paths)
    plan.lost += is_lost(prepared)
    if at := plan.update_at(prepared):
        first, last = plan.span or (at, at)
        plan.updates, plan.span = plan.updates + 1, (min(first, at), max(last, at))
    names = [name for name in prepared.post.by if name]
    if names and plan.author_id(names) is None and not set(names) & set(coming):
        plan.strangers[names[-1]] += 1


def same(own: Content, there: Content) -> bool:
    """Whether a post equals its source, whatever the addresses of copied pictures."""
    # The source is compared below; the slug that a post has here is ours to choose.
    if not content.same(own, there, but=("source", "slug")):
        return False
    ours, theirs = own.source, there.source
    if "/media/" in ours:
        ours, theirs = without_addresses(ours), without_addresses(theirs)
    return ours == theirs


def _stored_posts(session: Session, guids: Sequence[str]) -> dict[str, tuple[int, Content, bool]]:
    """Those of our posts that have one of `guids`, some hundreds of them: number, content, and
    whether ours stays, as a person has saved or deleted it here."""
    by_person = exists().where(Revision.post_id == Post.id, Revision.author_id.is_not(None))
    by_guid = {}
    query = select(Post, by_person).where(Post.guid.in_(guids)).options(selectinload(Post.tags))
    for post, edited in session.execute(query):
        value = content.of_post(post, tuple(tag.name for tag in post.tags))
        by_guid[post.guid] = post.id, value, edited or post.status == "deleted"
    session.expunge_all()
    return by_guid


def _authors(session: Session) -> dict[str, int]:
    """Our authors by name; login names take precedence over display names."""
    rows = session.execute(select(Author.id, Author.name, Author.display_name)).all()
    shown = {display.casefold(): id_ for id_, _, display in rows}
    return shown | {name.casefold(): id_ for id_, name, _ in rows}


def _counted(session: Session, instants: set[datetime]) -> set[datetime]:
    loaded = select(Update.at).where(Update.kind == "loaded", Update.at.in_(instants))
    return set(session.scalars(loaded)) if instants else set()


def sentences(plan: Plan, batch: Batch, zone: tzinfo = UTC) -> Iterator[str]:
    """One line per fact, its number first; facts with the number 0 are left out."""
    states = ", ".join(f"{number} {state}" for state, number in plan.states.most_common())
    yield f"{counted(len(plan.new), 'new post')}{f' ({states})' if states else ''}"
    if plan.unchanged:
        yield f"{counted(plan.unchanged, 'known post')}, unchanged"
    if plan.changed:
        changed = counted(len(plan.changed), "known post")
        yield f"{changed}, changed in the source: a minor edit here"
    if plan.edited_here:
        yield f"{counted(plan.edited_here, 'known post')}, edited or deleted here since: left alone"
    if batch.site is not None:
        yield f"{counted(len(batch.site.updates), 'update')} in the log of the export"
    elif plan.span:
        begin, end = (f"{at.astimezone(zone):%Y-%m-%d}" for at in plan.span)
        dates = begin if begin == end else f"{begin} to {end}"
        yield f"counted in the day of this blog, by date: {counted(plan.updates, 'post')}, {dates}"
    if plan.addresses:
        yield f"{counted(plan.addresses, 'old address', 'old addresses')} to redirect"
    if plan.lost and batch.site is None:
        lost = counted(plan.lost, "post")
        yield f"{lost} without an old address: --permalink can say how it was made"
    fate = "given to the one you chose" if "" in plan.author_ids else "without an author"
    for name, number in plan.strangers.most_common(20):
        yield f"{counted(number, 'post')} by {name!r}, who is not an author here: {fate}"
    for note, number in batch.notes.most_common():
        yield f"{number} × {note}"
    if batch.left_out:
        yield f"{counted(len(batch.left_out), 'post')} not imported, see the list"
    if batch.old_feeds:
        yield f"the old feed is led here from {' '.join(batch.old_feeds[:5])}"
    if old := sorted({by: old for old, by in reversed(batch.author_pages.items())}.values()):
        pages = counted(len(old), "old page of an author", "old pages of authors")
        yield f"{pages} not led on, as no author here has the posts: {' '.join(old[:20])}"
