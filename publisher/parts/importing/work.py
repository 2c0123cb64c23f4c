"""The work of the command `import`, in a module that is imported only when the command runs."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from publisher.base.errors import InvalidData, StorageUnavailable
from publisher.base.system import confined
from publisher.base.text import counted
from publisher.blog import update_log
from publisher.blog.members import authors
from publisher.blog.post_files import media
from publisher.blog.slugs import SlugPool
from publisher.installation import Site
from publisher.installation.settings import load_settings
from publisher.parts.importing import confined_reading, images, planning, sources, writer
from publisher.parts.importing.imported import Batch, KeptValues, is_web_address
from publisher.parts.importing.planning import PreparedPost
from publisher.parts.importing.work_list import NO_ADDRESS, WorkList
from publisher.storage.tables.credentials import Author

MOST_LISTED = 500  # redirects and titles, in the report as JSON
AT_ONCE = 200  # posts in memory, and in one transaction


def run(
    site: Site,
    source: str,
    format_: str | None,
    dry_run: bool,
    with_images: bool,
    heir: str | None,
    tell: Callable[[str], None],
    permalink: str = "",
    report: Path | None = None,
) -> dict[str, Any]:
    """Import `source`, or with `dry_run` only plan it. Returns `facts` (sentences), `redirects`
    from old addresses to new ones, the `titles` of new posts, and what is left `to_do` by hand:
    kinds of work with their first posts; the file `report` gets all of it.

    Raises InvalidData where there were files, but no post in them.
    """
    tell("reading")
    now = site.clock()
    with site.database.read() as db:
        zone, language = load_settings(db).zone, load_settings(db).language
        author = authors.named(db, heir) if heir else None
    place = sources.located(source, sys.stdin.buffer, site.environment.allow_private)
    folder = site.environment.instance
    batch, posts = confined_reading.read_posts(
        place, format_, zone, now, folder, language, tell, permalink
    )
    if not len(posts) and (batch.notes or batch.left_out):
        raise InvalidData(_nothing(place.name, batch))
    pictures: dict[str, str] | None = None
    if with_images and not dry_run:
        posts, pictures = _with_images(site, batch, posts, place, now, language, tell)
    if batch.site and not dry_run:
        confined_reading.store_media(place, batch.site, site.environment.media)
    if dry_run:
        with site.database.read() as db:
            planned = planning.make_plan(db, posts, author, writer.author_names(batch))
            redirects = list(islice(writer.moved(db, planned), MOST_LISTED))
            writer.author_pages(db, planned, batch, stored=False)
        if with_images:
            wanted = {
                name for prepared in planned.new_posts() for name in images.wanted(prepared.post)
            }
            batch.notes += Counter({"picture to download": len(wanted)})
            beside = sorted(name for name in wanted if not is_web_address(name))
            pictures = dict.fromkeys(wanted, "") | {
                name: str(data)
                for name, data in (confined_reading.files(place, beside) if beside else ())
                if not isinstance(data, bytes)
            }
    else:
        confined.pool().close()  # frees the memory of its processes before the posts are stored
        tell(f"storing {counted(len(posts), 'post')}")
        planned, redirects = _store(site, batch, posts, author, now, tell)
    last = (posts[place] for place in planned.new[-MOST_LISTED:])
    concerned = planned.concerned
    tell("looking for what needs a hand")

    def stored() -> Iterator[PreparedPost]:
        return (posts[number] for number in concerned)

    to_do = WorkList(report)
    with site.database.read() as db:
        for line in planning.manual_steps(db, stored, pictures, stored=not dry_run):
            to_do.add(*line)
    for prepared in stored() if planned.lost and batch.site is None else ():
        if planning.is_lost(prepared):
            to_do.add(prepared.post.guid, prepared.label, NO_ADDRESS, needs=False)
    for place_, reason in batch.left_out:
        to_do.add(place_, place_, f"it was not imported: {reason}")
    to_do.save()
    return {
        "facts": [*planning.sentences(planned, batch, zone), *to_do.facts()],
        "to_do": to_do.groups(),
        "new": len(planned.new),
        "redirects": redirects,
        "titles": [prepared.label for prepared in last],
    }


def _nothing(name: str, batch: Batch) -> str:
    """Why a source that has files has no post, and what can be done."""
    reasons = [f"{number:,} × {note}" for note, number in batch.notes.most_common(3)]
    reasons += [f"{place}: {reason}" for place, reason in batch.left_out[:3]]
    return (
        f"{name} has no post ({'; '.join(reasons)}). If these are web pages, import the feed of "
        "that blog instead (of Tumblr /rss): it has the newest posts"
    )


def _store(
    site: Site,
    batch: Batch,
    posts: Sequence[PreparedPost],
    heir: Author | None,
    now: datetime,
    tell: Callable[[str], None],
) -> tuple[planning.Plan, list[tuple[str, str]]]:
    """Store the posts in batches, so that others may save in between; then rebuild the feeds once.

    If it is stopped midway, import the same source again: posts that are stored are recognised.
    """
    from publisher.publishing.rebuild import (  # not while the source is read: memory
        ADDRESSES,
        rebuild,
    )

    database, done = site.database, 0
    with database.write() as db:
        writer.people_and_settings(db, batch)
        batch.old_feeds[:] = writer.old_feeds(db, batch.old_feeds, ADDRESSES.values())
    with database.read() as db:
        planned, pool = planning.make_plan(db, posts, heir), SlugPool(db)
        redirects = list(islice(writer.moved(db, planned), MOST_LISTED))
    concerned = planned.concerned
    places = iter(concerned)
    try:
        while some := [posts[place] for place in islice(places, AT_ONCE)]:
            with database.write() as db:  # plan again: posts may have changed since the first plan
                writer.store(db, planning.make_plan(db, some, heir), now, batch.site is None, pool)
            done += len(some)
            tell(f"{done:,} posts stored")
            database.give_way()
        update_log.fold_anew(database)
        if batch.site is not None:
            writer.log_updates(database, batch.site)
            with database.write() as db:
                writer.media_rows(db, batch.site)
        with database.write() as db:
            writer.author_pages(db, planned, batch)
            writer.moved_lists(db, batch.moved)
        rebuild(site)
    except StorageUnavailable as error:
        if not done:
            raise
        stored = f"{counted(done, 'post')} of {len(concerned):,} are stored"
        why = str(error).removesuffix("; nothing was changed")
        raise StorageUnavailable(f"{why}; {stored}: import it again for the others") from error
    return planned, redirects


def _with_images(
    site: Site,
    batch: Batch,
    posts: Sequence[PreparedPost],
    place: sources.Located,
    now: datetime,
    language: str,
    tell: Callable[[str], None],
) -> tuple[KeptValues[PreparedPost], dict[str, str]]:
    """Fetch the pictures of new and changed posts, and check those posts again; says why pictures
    could not be copied."""

    count = 0

    def keep(data: bytes, name: str) -> str:
        nonlocal count
        count += 1
        tell(f"{counted(count, 'picture')} fetched")
        accepted = media.accept(data)
        media.store(site.environment.media, accepted)
        with site.database.write() as db:
            media.record(db, accepted, name, None, now)
        return accepted.path

    with site.database.read() as db:
        planned = planning.make_plan(db, posts, None)
        concerned = {*planned.concerned}
    fetch = images.fetcher(site.environment.allow_private)
    beside = partial(confined_reading.files, place)
    names = {name for number in concerned for name in images.wanted(posts[number].post)}
    ours, problems = images.copy(names, fetch, beside, keep, batch.notes)
    brought = KeptValues[PreparedPost](site.environment.instance)
    for start in range(0, len(posts), AT_ONCE):
        some = dict(enumerate(posts[start : start + AT_ONCE], start))
        changed = [
            images.with_ours(prepared.post, ours) for n, prepared in some.items() if n in concerned
        ]
        again = {
            prepared.post.guid: prepared
            for prepared in confined_reading.prepare(changed, now, language)
        }
        brought.extend(again.get(prepared.post.guid, prepared) for prepared in some.values())
    return brought, problems
