"""A small, quick server of many feeds, in a process of its own: every path is a feed.

``/_phase/N`` sets the edition: in edition N each feed has 20 items, the newest being item N.
A request with the current ETag gets 304.
"""

import asyncio
import sys

ITEMS = 20
_WORDS = "Words of an item, as long as a short post is. " * 12


def document(path: str, edition: int) -> bytes:
    """An RSS document of 20 items."""
    items = "".join(
        f"<item><title>Item {n} of {path}</title><link>http://bench.example{path}/{n}</link>"
        f"<guid>http://bench.example{path}/{n}</guid>"
        f"<pubDate>Mon, 02 Mar 2026 {n % 24:02d}:00:00 GMT</pubDate>"
        f"<description><![CDATA[<p>{_WORDS}</p>]]></description></item>"
        for n in range(edition, edition - ITEMS, -1)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
        f"<title>Feed {path}</title><link>http://bench.example{path}</link>"
        f"<description>d</description>{items}</channel></rss>"
    ).encode()


class _Server(asyncio.Protocol):
    edition = 100

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self._transport.write(self._answer(head))  # type: ignore[attr-defined]

    def _answer(self, head: bytes) -> bytes:
        path = head.split(b" ", 2)[1].decode()
        if path.startswith("/_phase/"):
            _Server.edition = int(path.rpartition("/")[2])
            return b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
        tag = f'"e{_Server.edition}"'
        if tag.encode() in head:
            return f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode()
        body = document(path, _Server.edition)
        return (
            f"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nETag: {tag}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body


async def _main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Server, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the parent process ends


if __name__ == "__main__":
    asyncio.run(_main())
