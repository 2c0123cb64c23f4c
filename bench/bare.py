"""A minimal Python server, one connection a poll: accept, receive, send, close.

Nothing is parsed, counted or decided: each request is answered with the bytes of one of two files.
Its cost is a lower bound for every server in Python that gets a connection for each poll.

    python -m bench.bare PORT ANSWER_200 ANSWER_304
"""

import os
import socket
import sys
from pathlib import Path


def main(port: int, whole: bytes, unchanged: bytes) -> None:
    """Accept and answer connections until killed."""
    with socket.create_server(("127.0.0.1", port), backlog=2048) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        accept = listener._accept  # type: ignore[attr-defined]
        while True:
            taken, _ = accept()
            try:
                data = os.read(taken, 8_192)
                os.write(taken, unchanged if b"If-None-Match" in data else whole)
            except OSError:  # gone already
                pass
            os.close(taken)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]).read_bytes(), Path(sys.argv[3]).read_bytes())
