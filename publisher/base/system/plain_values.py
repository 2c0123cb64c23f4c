"""Values as bytes, for a process that does not trust the one that writes them.

They are written by what they are, as JSON with the byte strings behind it, and read as the type
that the reader names: plain types, their collections, dataclasses, named tuples and errors of ours,
each part checked on the way in. So the writer can choose values, never code.
"""

import inspect
import json
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from publisher.base.errors import PublisherError

Reader = Callable[[Any], Any]

_SIZES = struct.Struct("!II")  # of the JSON in bytes, and how many byte strings follow
_SIZE = struct.Struct("!I")
_PLAIN = (str, int, float, bool, NoneType, bytes, datetime)
_SEQUENCES: dict[Any, Callable[[Iterable[Any]], Any]] = {
    list: list, Sequence: list, Iterable: list, tuple: tuple, set: set, frozenset: frozenset,
}  # fmt: skip
_MAPPINGS: dict[Any, Callable[[Any], Any]] = {dict: dict, Mapping: dict, Counter: Counter}


class _Pairs(list[list[Any]]):
    """A mapping as it was written."""


class _Written(list[Any]):
    """An error as it was written: its class, then the arguments to make it of."""


def to_bytes(value: Any) -> bytes:
    """The bytes of a value; TypeError for one that `from_bytes` could not read as any type."""
    blobs: list[bytes] = []
    text = json.dumps(_as_json(value, blobs), separators=(",", ":")).encode()
    sizes = b"".join(_SIZE.pack(len(blob)) for blob in blobs)
    return b"".join((_SIZES.pack(len(text), len(blobs)), sizes, text, *blobs))


def _as_json(value: Any, blobs: list[bytes]) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        blobs.append(value)
        return {"b": len(blobs) - 1}
    if isinstance(value, datetime):
        return {"t": value.isoformat()}
    if isinstance(value, Mapping):
        return {"m": [[_as_json(element, blobs) for element in pair] for pair in value.items()]}
    if isinstance(value, PublisherError):
        parts = {"message": str(value), **vars(value)}
        wanted = [_as_json(parts[name], blobs) for name in _made_of(type(value))]
        return {"e": [_name(type(value)), *wanted]}
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value) if field.init]
    if isinstance(value, list | tuple | set | frozenset):
        return [_as_json(element, blobs) for element in value]
    raise TypeError(f"{type(value).__name__} is no value")


def from_bytes(data: bytes, kind: Any) -> Any:
    """What was written, as a value of `kind`; ValueError for anything else."""
    try:
        return _reader(kind)(_parsed(data))
    except ValueError:
        raise
    except Exception as error:  # hostile bytes raise anything
        raise ValueError("it does not fit") from error


def _parsed(data: bytes) -> Any:
    length, count = _SIZES.unpack_from(data)
    start = _SIZES.size + count * _SIZE.size
    place, blobs = start + length, list[bytes]()
    for number in range(count):
        (size,) = _SIZE.unpack_from(data, _SIZES.size + number * _SIZE.size)
        blobs.append(data[place : place + size])
        place += size

    def marked(pairs: list[tuple[str, Any]]) -> Any:
        ((mark, inner),) = pairs
        match mark:
            case "b":
                return blobs[inner]
            case "t":
                return datetime.fromisoformat(inner)
            case "m":
                return _Pairs(inner)
            case "e":
                return _Written(inner)
        raise ValueError("an unknown mark")

    return json.loads(data[start : start + length], object_pairs_hook=marked)


@cache
def _reader(kind: Any) -> Reader:
    """What checks and makes a value of this type."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return _anything
    if origin in (Union, UnionType):
        return _one_of([_reader(inner_kind) for inner_kind in inner])
    if origin is Literal:
        return _checked(lambda value: type(value) in (str, int) and value in inner)
    if origin is tuple and inner[-1] is not Ellipsis:
        return _parts(tuple, inner)
    if origin in _SEQUENCES:
        return _sequence(_SEQUENCES[origin], _reader(inner[0]))
    if origin in _MAPPINGS:
        values = inner[1] if origin is not Counter else int
        return _mapping(_MAPPINGS[origin], _reader(inner[0]), _reader(values))
    if kind in _PLAIN:
        return _checked(lambda value: type(value) is kind or (kind is float and type(value) is int))
    if isinstance(kind, type) and issubclass(kind, PublisherError):
        return _error
    names = [f.name for f in fields(kind) if f.init] if is_dataclass(kind) else kind._fields
    hints = get_type_hints(kind)
    return _parts(
        lambda parts: kind(**dict(zip(names, parts, strict=True))), [hints[name] for name in names]
    )


def _checked(fits: Callable[[Any], bool]) -> Reader:
    def read(value: Any) -> Any:
        if not fits(value):
            raise ValueError("another type")
        return value

    return read


def _one_of(readers: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        for reader in readers:
            try:
                return reader(value)
            except (ValueError, TypeError):
                continue
        raise ValueError("none of the types")

    return read


def _sequence(make: Callable[[Iterable[Any]], Any], reader: Reader) -> Reader:
    return lambda value: make(map(reader, _list(value, list)))


def _parts(make: Callable[[Iterable[Any]], Any], kinds: Iterable[Any]) -> Reader:
    readers = list(map(_reader, kinds))

    def read(value: Any) -> Any:
        parts = zip(readers, _list(value, list), strict=True)
        return make([reader(part) for reader, part in parts])

    return read


def _mapping(make: Callable[[Any], Any], key: Reader, inner: Reader) -> Reader:
    return lambda value: make({key(name): inner(part) for name, part in _list(value, _Pairs)})


def _list(value: Any, kind: type[list[Any]]) -> list[Any]:
    if type(value) is not kind:
        raise ValueError("another type")
    return value


def _anything(value: Any) -> Any:
    """A value of plain types; sequences are lists."""
    match value:
        case _Written():
            raise ValueError("an error is no value here")
        case _Pairs():
            return {name: _anything(part) for name, part in value}
        case list():
            return [_anything(element) for element in value]
    return value


def _error(value: Any) -> PublisherError:
    name, *arguments = _list(value, _Written)
    kind = {_name(error_class): error_class for error_class in _error_classes(PublisherError)}[name]
    error: PublisherError = _parts(lambda parts: kind(*parts), _made_of(kind).values())(arguments)
    return error


def _error_classes(kind: type[PublisherError]) -> Iterable[type[PublisherError]]:
    """A class of errors and those below it, of modules that this process has loaded itself."""
    yield kind
    for below in kind.__subclasses__():
        yield from _error_classes(below)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _made_of(kind: type[PublisherError]) -> dict[str, Any]:
    """The names and types of what an error is made of; each is an attribute, or `message`."""
    if not inspect.isfunction(kind.__init__):
        return {"message": str}
    return {name: of for name, of in get_type_hints(kind.__init__).items() if name != "return"}
