"""Authentication: a user name, and a token as the password, checked before anything else."""

from publisher.base.errors import Forbidden
from publisher.storage.tables.credentials import ApiToken
from publisher.web.context import bearer_of
from publisher.web.micropub import access


def who(name: object, password: object) -> ApiToken:
    """The token given as the password, if it belongs to the author `name`; Forbidden otherwise."""
    token = bearer_of(str(password)[:200])
    if token is None or token.author.name != str(name).strip():
        raise Forbidden("wrong name or token: the password here is a token from your account page")
    return token


def may_read(token: ApiToken) -> None:
    """Forbidden unless the token may write: posts are read here only to be edited."""
    _held(token, "create", "update")


def may(token: ApiToken, scope: str) -> None:
    """Forbidden without `scope`; TooMany when it writes too often."""
    _held(token, scope)
    access.count(token)


def _held(token: ApiToken, *scopes: str) -> None:
    try:
        access.check_scope(token, *scopes)
    except access.Unauthorized as error:
        raise Forbidden(str(error)) from error
