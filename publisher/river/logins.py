"""The login of a feed: what is sent along with a request, Basic (RFC 7617) or Digest (RFC 7616)."""

import base64

import aiohttp

from publisher.river.answers import Credentials


class Login:
    """A name and password on their way to one address.

    Basic is sent at once where it worked before. Otherwise the server says which it wants, and the
    request is made a second time; by whoever made the first, so that both wait for their turn.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._digest_proof = ""
        self.scheme = credentials.scheme
        self.proof = self._basic() if self.scheme == "basic" else ""

    def headers(self) -> dict[str, str]:
        """What proves who asks; nothing until the server has said which proof it wants."""
        return {"Authorization": self.proof} if self.proof else {}

    def middlewares(self) -> tuple[aiohttp.ClientMiddlewareType, ...]:
        """For the first request: aiohttp works out the answer to a challenge, and sends nothing."""
        if self.proof:
            return ()
        digest = aiohttp.DigestAuthMiddleware(
            self._credentials.username, self._credentials.password
        )
        return digest, self._only_once()

    def can_answer(self, challenge: str) -> bool:
        """Whether a second request, with the proof that the server asked for, may help."""
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
        """A middleware that makes one request; of a second one it keeps what would prove us."""
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
