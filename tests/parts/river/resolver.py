"""Names for tests: every host is this machine."""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult


class Loopback(AbstractResolver):
    """Finds 127.0.0.1 behind every name."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0
            )
        ]

    async def close(self) -> None:
        """Nothing is held."""
