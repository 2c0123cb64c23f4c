"""HTTP authentication for a feed: Basic (RFC 7617) or Digest (RFC 7616)."""

import base64

import aiohttp

from publisher.river.fetching.answers import Credentials


class Login:
    """The authentication of one request and of its repetition after a 401.

    Basic is sent at once if it worked before. Otherwise the server first names its scheme, and the
    caller sends the request again, so that both requests wait for their turn.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._digest_proof = ""
        self.scheme = credentials.scheme
        self.proof = self._basic() if self.scheme == "basic" else ""

    def headers(self) -> dict[str, str]:
        """The Authorization header; none until the server has named its scheme."""
        return {"Authorization": self.proof} if self.proof else {}

    def middlewares(self) -> tuple[aiohttp.ClientMiddlewareType, ...]:
        """For the first request: aiohttp computes the reply to a challenge, without sending it."""
        if self.proof:
            return ()
        digest = aiohttp.DigestAuthMiddleware(
            self._credentials.username, self._credentials.password
        )
        return digest, self._only_once()

    def can_answer(self, challenge: str) -> bool:
        """Whether a second request, with the Authorization that the server asked for, may help."""
        if self.proof:
            return False
        if self._digest_proof:
            self.proof = self._digest_proof
        elif "basic" in challenge.lower():
            self.scheme, self.proof = "basic", self._basic()
        return bool(self.proof)

    def _basic(self) -> str:
        pair = f"{self._credentials.username}:{self._credentials.password}"
        return "Basic " + base64.b64encode(pair.encode()).decode()

    def _only_once(self) -> aiohttp.ClientMiddlewareType:
        """A middleware that sends one request; of a second it only keeps the Authorization."""
        answered: list[aiohttp.ClientResponse] = []

        async def send(
            request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
        ) -> aiohttp.ClientResponse:
            if not answered:
                answered.append(await handler(request))
            else:
                self._digest_proof = request.headers["Authorization"]
            return answered[0]

        return send
