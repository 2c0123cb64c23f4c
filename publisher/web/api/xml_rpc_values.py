"""XML-RPC documents: a call as its name and Python values, an answer or a fault as bytes.

Both are the standard library's (`xmlrpc.client`); a call with a document type is refused before.
"""

from io import BytesIO
from typing import Any
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import ExpatError
from xmlrpc.client import Binary, DateTime, Error, Fault, dumps, getparser  # nosec B411

from publisher.base import safe_xml
from publisher.base.errors import InvalidInput
from publisher.base.system import confined
from publisher.base.system.confined import Limits

MAX_DEPTH = 12
MAX_VALUES = 10_000
MAX_TAGS = 8 * MAX_VALUES  # a value that is a member of a struct has up to eight tags
SHORT_BYTES, LIMITS = 64 * 1024, Limits(seconds=10.0)
Value = Any  # str, int, float, bool, bytes, None, list, dict; a date stays the text it was


def read_call(body: bytes) -> tuple[str, list[Value]]:
    """The method's name and its parameters; InvalidInput for anything that is not a call.

    A long one is read in a confined process, because its sender is not authenticated yet.
    """
    if body.count(b"<") > MAX_TAGS or body.count(b"<value") > MAX_VALUES:
        raise InvalidInput(f"a call has at most {MAX_VALUES:,} values")
    if len(body) <= SHORT_BYTES:
        return _call(body)
    return confined.read(_call, LIMITS, body)


def _call(body: bytes) -> tuple[str, list[Value]]:
    parser, target = getparser()
    try:
        safe_xml.first_element(BytesIO(body), doctype=False)
        parser.feed(body)
        parser.close()
        parameters, name = list(target.close()), (target.getmethodname() or "").strip()
    except (ExpatError, ParseError, Error, LookupError, ValueError, TypeError) as error:
        raise InvalidInput(f"this is not an XML-RPC call ({error})") from error
    if not name or len(name) > 100:
        raise InvalidInput("a methodCall with a methodName is needed")
    return name, [_plain(value, MAX_DEPTH) for value in parameters]


def _plain(value: Value, depth: int) -> Value:
    """A value without the library's own types, nested no deeper than `depth`."""
    if depth < 0:
        raise InvalidInput("the values are nested too deeply")
    match value:
        case DateTime():
            return str(value).strip()
        case Binary():
            return value.data
        case list():
            return [_plain(item, depth - 1) for item in value]
        case dict():
            return {name: _plain(item, depth - 1) for name, item in value.items()}
        case str() | int() | float() | None:
            return value
    raise InvalidInput(f"a value of the kind {type(value).__name__} is not known")


def answer(value: Value) -> bytes:
    """The document that answers with `value`."""
    return dumps((value,), methodresponse=True, encoding="utf-8").encode()


def fault(code: int, words: str) -> bytes:
    """The document that says what went wrong."""
    return dumps(Fault(code, words), methodresponse=True, encoding="utf-8").encode()
