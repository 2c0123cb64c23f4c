"""`publisher demo`: fill an empty instance with the example blog."""

import click

from publisher.cli.parameters import site

NEXT = (
    ("/studio/", "write something; see this blog's day, and when its readers come"),
    ("/readers", "who reads, how often they look, and what can be done about the rest"),
    ("/readers/worth", "how much knowing the day is worth"),
    ("/studio/feed", "the feed's week, its documents and its pings"),
    ("/river", "what three other blogs said"),
)


@click.command()
@click.option("--seed", default=1, show_default=True, help="another seed makes another history")
def demo(seed: int) -> None:
    """Fill an empty instance with an example blog; print how to log in."""
    import random

    from publisher.blog.members import authors
    from publisher.parts.demo import build, readers_week
    from publisher.publishing.rebuild import rebuild

    blog, rng = site(), random.Random(seed)  # noqa: S311 - a history, not a secret
    now = blog.clock()
    with blog.database.read() as db:
        build.check_empty(db)
    passwords = {name: authors.made_password() for name in build.PEOPLE}
    stored = {name: authors.hashed(password) for name, password in passwords.items()}
    uploads = build.files()
    build.store_files(blog.environment.media, uploads)
    with blog.database.write() as db:
        number = build.build(db, uploads, stored, rng, now)
        feeds = build.follow(db, now)
    polls = readers_week.live(blog, rng, now)
    rebuild(blog)
    click.echo(
        f"{number} posts, three months of history, a week of readers ({polls:,} polls) and"
        f" {feeds} feeds for the river are in {blog.environment.instance}"
    )
    for name, password in passwords.items():
        click.echo(f"log in as {name} with the password {password} (shown only once)")
    click.echo("Next: start it (make run, or publisher serve), log in, and look at")
    for path, what in NEXT:
        click.echo(f"  {blog.site_url}{path:20} {what}")
