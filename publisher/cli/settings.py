"""The command `settings`."""

from dataclasses import asdict

import click

from publisher.base.errors import InvalidInput
from publisher.cli.parameters import echo_json, json_option, site


@click.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
@json_option
def settings(key: str | None, value: str | None, as_json: bool) -> None:
    """List the site's settings, show one, or set one."""
    from publisher.installation import public_address
    from publisher.settings import check_name, load_settings, store_setting

    if key is not None:
        check_name(key)
    here = site()
    if key is not None and value is not None:
        from publisher.publishing.rebuild import rebuild

        if key == "site_url" and here.environment.site_url:
            raise InvalidInput("site_url is fixed by PUBLISHER_SITE_URL; change it there")
        with here.database.write() as db:
            store_setting(db, key, value)
        rebuild(here)
    with here.database.read() as db:
        values = asdict(load_settings(db)) | {"site_url": public_address(db, here.environment)}
    if as_json:
        echo_json(values if key is None else {key: values[key]})
    elif key is None:
        for name, current in values.items():
            click.echo(f"{name} = {current}")
    else:
        click.echo(values[key])
