"""Untrusted XML: no entities, no external references, bounded depth, one element at a time."""

from collections.abc import Iterator
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from publisher.base.errors import InvalidData

MAX_DEPTH = 200
_ENTITIES = "the XML declares entities, which is not safe to read"


def parts(stream: BinaryIO, container: str) -> Iterator[Element]:
    """Every finished child of the outermost `container` element, freed when the next is asked for.

    Raises InvalidData for XML that is broken, ends too early, declares entities or nests deeply.
    """
    parents: list[Element] = []
    try:
        for event, element in _events(stream):
            if event == "start":
                parents.append(element)
                if len(parents) > MAX_DEPTH:
                    raise InvalidData("the XML is nested too deeply")
                continue
            parents.pop()
            if 0 < len(parents) <= 2 and local(parents[-1]) == container:
                yield element
                parents[-1].remove(element)
    except ParseError as error:
        line, column = error.position
        reason = str(error).partition(":")[0]
        raise InvalidData(f"the XML breaks at line {line}, column {column}: {reason}") from error
    except DefusedXmlException as error:
        raise InvalidData(_ENTITIES) from error
    except (LookupError, ValueError) as error:
        if isinstance(error, InvalidData):
            raise
        raise InvalidData("the XML is in an encoding that cannot be read") from error


def _events(stream: BinaryIO) -> Any:
    return iterparse(stream, events=("start", "end"), forbid_external=True, forbid_entities=True)


def local(element: Element) -> str:
    """An element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element, tag: str) -> str:
    """The text of the first child called `tag`; "" when there is none."""
    return (element.findtext(tag) or "").strip()


def root(stream: BinaryIO) -> tuple[str, frozenset[str]]:
    """The root's local name and the namespaces it declares; the stream is put back to its start.

    ("", none) for what does not begin as XML; InvalidData where it declares entities.
    """
    namespaces: set[str] = set()
    try:
        for event, value in iterparse(stream, events=("start-ns", "start"), forbid_external=True):
            if event == "start":
                return local(value), frozenset(namespaces)
            namespaces.add(value[1])
    except DefusedXmlException as error:
        raise InvalidData(_ENTITIES) from error
    except (ParseError, LookupError, ValueError):
        pass
    finally:
        stream.seek(0)
    return "", frozenset()
