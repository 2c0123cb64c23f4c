"""What the command `import` does, apart from its options: imported only when it runs."""

import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from publisher.base.plurals import counted
from publisher.blog import authors, media
from publisher.exchange.importing import (
    confined_reading,
    images,
    preparation,
    site_contents,
    sources,
    summary,
    writer,
)
from publisher.exchange.importing import (
    dry_run as plan,
)
from publisher.exchange.importing.imported import Batch
from publisher.installation import Site
from publisher.publishing.rebuild import rebuild
from publisher.settings import load_settings
from publisher.storage.tables.blog import Author

MOST_LISTED = 500  # redirects and titles, in the report as JSON


def run(
    here: Site,
    source: str,
    format_: str | None,
    dry_run: bool,
    with_images: bool,
    heir: str | None,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Import `source`, or only plan to; what became of it: `facts` in sentences, `redirects` from
    old addresses to new ones, `titles` of what is new."""
    tell("reading")
    now = here.clock()
    with here.database.read() as db:
        zone, language = load_settings(db).zone, load_settings(db).language
        author = authors.named(db, heir) if heir else None
    place = sources.located(source, sys.stdin.buffer, here.environment.allow_private)
    batch, found = confined_reading.read_posts(place, format_, zone, now, language, tell)
    if with_images and not dry_run:
        found = _with_images(here, batch, found, place, now, language, tell)
    if batch.site and not dry_run:
        confined_reading.store_media(place, batch.site, here.environment.media)
    if dry_run:
        with here.database.read() as db:
            planned = plan.make_plan(db, found, author, site_contents.names(batch))
            redirects = writer.moved(db, planned, now)
        wanted = {name for one in planned.new for name in images.wanted(one.post)}
        if with_images and wanted:
            batch.notes["picture to download"] += len(wanted)
    else:
        tell(f"storing {counted(len(found), 'post')}")
        planned, redirects = _store(here, batch, found, author, now)
    return {
        "facts": list(summary.sentences(planned, batch)),
        "new": len(planned.new),
        "redirects": redirects[:MOST_LISTED],
        "titles": [one.content.title or one.words[:80] for one in planned.new[-MOST_LISTED:]],
    }


def _store(
    here: Site, batch: Batch, found: list[preparation.Ready], heir: Author | None, now: datetime
) -> tuple[plan.Plan, list[tuple[str, str]]]:
    """All in one transaction, then one rebuild of the feeds."""
    with here.database.write() as db:
        site_contents.people_and_settings(db, batch)
        planned = plan.make_plan(db, found, heir)
        redirects = writer.moved(db, planned, now)
        writer.store(db, planned, now, count_updates=batch.site is None)
        if batch.site is not None:
            site_contents.log(db, batch.site, now)
            site_contents.media_rows(db, batch.site)
    rebuild(here)
    return planned, redirects


def _with_images(
    here: Site,
    batch: Batch,
    found: list[preparation.Ready],
    place: sources.Located,
    now: datetime,
    language: str,
    tell: Callable[[str], None],
) -> list[preparation.Ready]:
    """Fetch the pictures of what is new or changed, and check those posts again."""

    kept = 0

    def keep(data: bytes, name: str) -> str:
        nonlocal kept
        kept += 1
        tell(f"{counted(kept, 'picture')} fetched")
        accepted = media.accept(data)
        media.store(here.environment.media, accepted)
        with here.database.write() as db:
            media.record(db, accepted, name, None, now)
        return accepted.path

    with here.database.read() as db:
        planned = plan.make_plan(db, found, None)
    concerned = [*planned.new, *(one for _, one in planned.changed)]
    posts = [one.post for one in concerned]
    fetch = images.fetcher(here.environment.allow_private)
    beside = partial(confined_reading.files, place)
    brought = images.bring(posts, fetch, beside, keep, batch.notes)
    again = {one.post.guid: one for one in confined_reading.prepare(brought, now, language)}
    return [again.get(one.post.guid, one) for one in found]
