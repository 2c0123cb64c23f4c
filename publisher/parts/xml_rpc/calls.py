"""`/xmlrpc`, which receives the calls, and `/xmlrpc?rsd`, by which editors find it.

Clients of WordPress only know `/xmlrpc.php`, which is the same.
"""

from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

from flask import Blueprint, Response, request

from publisher.base.errors import Forbidden, InvalidInput, NotFound, PublisherError
from publisher.base.system.logs import get_logger
from publisher.parts.xml_rpc import methods, wordpress
from publisher.publishing.rebuild import rebuild
from publisher.storage.tables.credentials import ApiToken
from publisher.web.api import xml_rpc_values as values
from publisher.web.context import own_address, site

blueprint = Blueprint("xmlrpc", __name__)
log = get_logger("xmlrpc")

XML = "text/xml; charset=utf-8"
Call = Callable[[ApiToken, list[Any]], Any]

# The scopes of which the token needs one; posts are read here only to be edited.
READ, NEW, EDIT, DELETE, MEDIA, ANY = "create update", "create", "update", "delete", "media", ""
# Each method: the index of the name among its parameters (the token follows it), the fewest
# parameters, the scopes and the function. The first parameter of blogger.* is a key, ignored.
METHODS: dict[str, tuple[int, int, str, Call]] = {
    "blogger.getUsersBlogs": (1, 3, ANY, lambda t, _: methods.users_blogs(t)),
    "blogger.getUserInfo": (1, 3, ANY, lambda t, _: methods.user_info(t)),
    "blogger.deletePost": (2, 4, DELETE, lambda t, p: methods.delete(t, p[1])),
    "metaWeblog.newPost": (1, 4, NEW, lambda t, p: methods.new(t, p[0], p[3], _flag(p, 4), "post")),
    "metaWeblog.editPost": (1, 4, EDIT, lambda t, p: methods.edit(t, p[0], p[3], _flag(p, 4))),
    "metaWeblog.getPost": (1, 3, READ, lambda t, p: methods.get(t, p[0])),
    "metaWeblog.getRecentPosts": (1, 3, READ, lambda t, p: methods.recent(t, p[0], _fourth(p))),
    "metaWeblog.getCategories": (1, 3, READ, lambda t, _: methods.categories(t)),
    "metaWeblog.newMediaObject": (1, 4, MEDIA, lambda t, p: methods.upload(t, p[3])),
    "metaWeblog.deletePost": (2, 4, DELETE, lambda t, p: methods.delete(t, p[1])),
    "metaWeblog.getUsersBlogs": (1, 3, ANY, lambda t, _: methods.users_blogs(t)),
    "mt.getCategoryList": (1, 3, READ, lambda t, _: methods.categories(t)),
    "mt.getRecentPostTitles": (1, 3, READ, lambda t, p: methods.recent(t, p[0], _fourth(p))),
    "mt.getPostCategories": (1, 3, READ, lambda t, p: methods.post_categories(t, p[0])),
    "mt.setPostCategories": (1, 4, EDIT, lambda t, p: methods.set_post_categories(t, p[0], p[3])),
    "mt.publishPost": (1, 3, EDIT, lambda t, p: methods.edit(t, p[0], {}, True)),
    "wp.getUsersBlogs": (0, 2, ANY, lambda t, _: methods.users_blogs(t)),
    "wp.newPost": (1, 4, NEW, lambda t, p: wordpress.new_post(t, p[0], p[3])),
    "wp.editPost": (1, 5, EDIT, lambda t, p: wordpress.edit_post(t, p[3], p[4])),
    "wp.deletePost": (1, 4, DELETE, lambda t, p: methods.delete(t, p[3])),
    "wp.getPost": (1, 4, READ, lambda t, p: wordpress.get_post(t, p[3])),
    "wp.getPosts": (1, 3, READ, lambda t, p: wordpress.get_posts(t, p[0], _fourth(p))),
    "wp.getOptions": (1, 3, READ, lambda t, p: wordpress.options(t, _fourth(p))),
    "wp.getMediaLibrary": (1, 3, READ, lambda t, p: wordpress.media_library(t, _fourth(p))),
    "wp.getMediaItem": (1, 4, READ, lambda t, p: wordpress.media_item(t, p[3])),
    "wp.getTaxonomies": (1, 3, READ, lambda t, _: wordpress.taxonomies(t)),
    "wp.getTerms": (1, 4, READ, lambda t, p: wordpress.terms(t, p[3])),
    "wp.getProfile": (1, 3, ANY, lambda t, _: wordpress.profile(t)),
    "wp.getPostStatusList": (1, 3, ANY, lambda _, _p: wordpress.STATUSES),
    "wp.getPostFormats": (1, 3, ANY, lambda _, _p: {"standard": "Standard"}),
    "wp.getComments": (1, 3, ANY, lambda _, _p: []),
    "wp.getAuthors": (1, 3, ANY, lambda t, _: methods.authors(t)),
    "wp.getCategories": (1, 3, READ, lambda t, _: methods.categories(t)),
    "wp.getTags": (1, 3, READ, lambda t, _: methods.categories(t)),
    "wp.newCategory": (1, 4, ANY, lambda _, p: wordpress.category_name(p[3])),
    "wp.uploadFile": (1, 4, MEDIA, lambda t, p: methods.upload(t, p[3])),
    "wp.newPage": (1, 4, NEW, lambda t, p: methods.new(t, p[0], p[3], _flag(p, 4), "page")),
    "wp.editPage": (2, 5, EDIT, lambda t, p: methods.edit(t, p[1], p[4], _flag(p, 5))),
    "wp.deletePage": (1, 4, DELETE, lambda t, p: methods.delete(t, p[3])),
    "wp.getPage": (2, 4, READ, lambda t, p: methods.get(t, p[1])),
    "wp.getPages": (1, 3, READ, lambda t, p: methods.recent(t, p[0], _fourth(p), "page")),
    "wp.getPageList": (1, 3, READ, lambda t, p: methods.recent(t, p[0], 100, kind="page")),
}
MULTICALL, MOST_CALLS = "system.multicall", 20
# Methods without authentication.
OPEN: dict[str, Callable[[], Any]] = {
    "system.listMethods": lambda: sorted([*METHODS, *OPEN, MULTICALL]),
    "mt.supportedMethods": lambda: sorted([*METHODS, *OPEN, MULTICALL]),
    "mt.supportedTextFilters": lambda: [{"key": "markdown", "label": "Markdown"}],
}


@blueprint.post("/xmlrpc")
@blueprint.post("/xmlrpc.php")
def call() -> Response:
    """One call; an error is answered as a fault, with the status 200 of the standard."""
    try:
        name, parameters = values.read_call(request.get_data(cache=False))
        many = name == MULTICALL
        body = values.answer(_all_called(parameters) if many else _called(name, parameters))
    except PublisherError as error:
        body = values.fault(error.http_status, str(error))
    return Response(body, content_type=XML)


@blueprint.get("/xmlrpc")
@blueprint.get("/xmlrpc.php")
def discovery() -> Response:
    """Really Simple Discovery: which interfaces there are, and where."""
    address = quoteattr(f"{own_address()}/xmlrpc")
    interfaces = "\n".join(
        f'<api name="{name}" blogID="1" preferred="{"true" if name == "MetaWeblog" else "false"}"'
        f" apiLink={address}/>"
        for name in ("WordPress", "MetaWeblog", "MovableType", "Blogger")
    )
    body = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<rsd version="1.0" xmlns="http://archipelago.phrasewise.com/rsd"><service>\n'
        f"<engineName>Publisher</engineName>\n<homePageLink>{own_address()}/</homePageLink>\n"
        f"<apis>\n{interfaces}\n</apis>\n</service></rsd>\n"
    )
    return Response(body, content_type="application/rsd+xml; charset=utf-8")


def _all_called(parameters: list[Any]) -> list[Any]:
    """The answers to several calls, each in a list of its own, or a fault's struct.

    After one that is forbidden no further call is tried: tokens could be guessed many at a time.
    """
    calls = parameters[0] if parameters else None
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise InvalidInput(f"{MULTICALL} needs a list of structs")
    if len(calls) > MOST_CALLS:
        raise InvalidInput(f"{MULTICALL} takes at most {MOST_CALLS} calls")
    answers: list[Any] = []
    refused: Forbidden | None = None
    for call in calls:
        try:
            if refused is not None:
                raise refused
            arguments = call.get("params")
            name = str(call.get("methodName"))
            answers.append([_called(name, arguments if isinstance(arguments, list) else [])])
        except PublisherError as error:
            refused = error if isinstance(error, Forbidden) else None
            answers.append({"faultCode": error.http_status, "faultString": str(error)})
    return answers


def _called(name: str, parameters: list[Any]) -> Any:
    if name in OPEN:
        return OPEN[name]()
    if name not in METHODS:
        raise NotFound(f"there is no method {name!r}")
    place, fewest, scopes, do = METHODS[name]
    if len(parameters) < fewest:
        raise InvalidInput(f"{name} needs {fewest} parameters")
    token = methods.who(parameters[place], parameters[place + 1])
    if scopes:
        methods.check(token, scopes, counts=scopes != READ)
    answer = do(token, parameters)
    if scopes in (NEW, EDIT, DELETE):
        rebuild(site())
    return answer


def _flag(parameters: list[Any], place: int) -> bool:
    """Whether to publish; yes if the parameter is missing."""
    return bool(parameters[place]) if len(parameters) > place else True


def _fourth(parameters: list[Any]) -> object:
    return parameters[3] if len(parameters) > 3 else None
