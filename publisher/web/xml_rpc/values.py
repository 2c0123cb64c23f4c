"""XML-RPC documents: a call as its name and Python values, an answer or a fault as bytes.

The parser is our own, because the standard library's accepts entities and any depth; writing uses
the standard library.
"""

import binascii
from base64 import b64decode
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from xmlrpc.client import Fault, dumps  # nosec B411

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from publisher.base import confined
from publisher.base.confined import Limits
from publisher.base.errors import InvalidInput

MAX_DEPTH = 12
MAX_VALUES = 10_000
MAX_TAGS = 8 * MAX_VALUES  # a value that is a member of a struct has up to eight tags
SHORT_BYTES, LIMITS = 64 * 1024, Limits(seconds=10.0)
Value = Any  # str, int, float, bool, bytes, None, list, dict; a date stays the text it was


def read_call(body: bytes) -> tuple[str, list[Value]]:
    """The method's name and its parameters; InvalidInput for anything that is not a call.

    A long one is read in a confined process, because its sender is not authenticated yet.
    """
    if body.count(b"<") > MAX_TAGS:
        raise InvalidInput(f"a call has at most {MAX_VALUES:,} values")
    if len(body) <= SHORT_BYTES:
        return _call(body)
    return confined.read(_call, LIMITS, body)


def _call(body: bytes) -> tuple[str, list[Value]]:
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        raise InvalidInput("this is not an XML-RPC call") from error
    name = (root.findtext("methodName") or "").strip()
    if root.tag != "methodCall" or not name or len(name) > 100:
        raise InvalidInput("a methodCall with a methodName is needed")
    if sum(1 for _ in root.iter("value")) > MAX_VALUES:
        raise InvalidInput(f"a call has at most {MAX_VALUES:,} values")
    return name, [_value(one, 0) for one in root.findall("params/param/value")]


def answer(value: Value) -> bytes:
    """The document that answers with `value`."""
    return dumps((value,), methodresponse=True, encoding="utf-8").encode()


def fault(code: int, words: str) -> bytes:
    """The document that says what went wrong."""
    return dumps(Fault(code, words), methodresponse=True, encoding="utf-8").encode()


def _value(element: Element, depth: int) -> Value:
    """What a `<value>` holds; bare text is a string."""
    if depth > MAX_DEPTH:
        raise InvalidInput("the values are nested too deeply")
    if len(element) == 0:
        return element.text or ""
    inner = element[0]
    read = _SCALARS.get(inner.tag)
    if read is not None:
        return _scalar(read, inner)
    if inner.tag == "array":
        return [_value(one, depth + 1) for one in inner.findall("data/value")]
    if inner.tag == "struct":
        return _struct(inner, depth)
    raise InvalidInput(f"a value of the kind {str(inner.tag)[:40]!r} is not known")


def _struct(element: Element, depth: int) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for member in element.findall("member"):
        value = member.find("value")
        if value is not None:
            found[member.findtext("name") or ""] = _value(value, depth + 1)
    return found


def _scalar(read: Callable[[str], Value], element: Element) -> Value:
    try:
        return read(element.text or "")
    except (ValueError, binascii.Error) as error:
        raise InvalidInput(f"{(element.text or '')[:40]!r} is no {element.tag}") from error


def _int(text: str) -> int:
    if len(text) > 20:
        raise ValueError(text)
    return int(text)


_SCALARS: dict[str, Callable[[str], Value]] = {
    "string": str,
    "int": _int,
    "i4": _int,
    "i8": _int,
    "double": float,
    "boolean": lambda text: bool(_int(text)),
    "dateTime.iso8601": str.strip,
    "base64": lambda text: b64decode("".join(text.split()), validate=True),
    "nil": lambda _: None,
}
