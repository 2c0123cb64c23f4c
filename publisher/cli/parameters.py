"""Click parameter types, and opening the site: what several commands share."""

from datetime import datetime
from math import isnan
from typing import Any

import click

from publisher.base.dates import parse_rfc3339
from publisher.base.environment import read_environment
from publisher.base.errors import InvalidInput
from publisher.installation import Site, open_site


class Instant(click.ParamType[datetime]):
    """A moment as RFC 3339 with its offset."""

    name = "RFC3339"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """The moment in UTC; a usage error when it is anything else."""
        if isinstance(value, datetime):
            return value
        try:
            return parse_rfc3339(str(value))
        except InvalidInput as error:
            self.fail(str(error), param, ctx)


class Days(click.FloatRange):
    """A number of days above 0; 50,000 are more than there are since 1970."""

    def __init__(self) -> None:
        super().__init__(0, 50_000, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; a usage error for anything else, "nan" included."""
        days = float(super().convert(value, param, ctx))
        if isnan(days):
            self.fail(f"{value!r} is not a number of days", param, ctx)
        return days


def site() -> Site:
    """The installation that the environment names."""
    return open_site(read_environment())
