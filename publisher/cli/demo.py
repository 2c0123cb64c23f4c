"""The command `demo`."""

import click

from publisher.cli.parameters import site


@click.command()
@click.option("--seed", default=1, show_default=True, help="another seed, another history")
def demo(seed: int) -> None:
    """Fill an empty instance with a believable blog; prints how to log in."""
    import random
    import secrets

    from publisher.demo import build
    from publisher.publishing.rebuild import rebuild

    here, rng = site(), random.Random(seed)  # noqa: S311 - a history, not a secret
    now = here.clock()
    with here.database.read() as db:
        build.check_empty(db)
    passwords = {name: secrets.token_urlsafe(12) for name in build.PEOPLE}
    uploads = build.files(rng)
    build.media_folder(here.environment.media, uploads)
    with here.database.write() as db:
        number = build.build(db, uploads, passwords, rng, now)
    rebuild(here, now)
    click.echo(f"{number} posts and three months of history are in {here.environment.instance}")
    for name, password in passwords.items():
        click.echo(f"log in as {name} with the password {password} (shown this once)")
