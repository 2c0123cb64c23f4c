"""Compiles plain scalar functions of `core` with numba, and caches the result on disk.

A kernel refers to its rules as globals; `specialise` makes a copy of the kernel with these names
bound to compiled rules. numba caches the copy on disk under its name, so the name ends in a
fingerprint of all code and constants in it: a changed rule gives another kernel.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from types import CodeType, FunctionType, ModuleType
from typing import Any

Function = Callable[..., Any]

# Rules and kernels only write into arrays of the caller, so they need no reference counting, which
# takes two thirds of the time in such small functions. Divisors are never 0, so there is no check.
SETTINGS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


@lru_cache(maxsize=1)
def available() -> bool:
    """Whether numba is installed (it lags behind new Pythons; everything works without it), and
    not switched off by its own variable."""
    return find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT") != "1"


@lru_cache(maxsize=256)
def rule(function: Function) -> Any:
    """`function` compiled, with every plain function that it calls; unchanged without numba.

    Cheap until the first call, at which numba compiles for the types of the arguments.
    """
    if not available():
        return function
    if function is scratch:
        return _scratch_on_the_stack()
    return _compiled(_rebound(function, "", {}), forceinline=True)


def _compiled(function: Function, **how: Any) -> Any:
    """`function` compiled; unchanged without numba."""
    if not available():
        return function
    from numba import njit

    return njit(**how, **SETTINGS)(function)


def scratch(size: int) -> Any:
    """A list of `size` zeros. In compiled code an array on the stack, of constant `size`: where all
    indices are constants it is kept in registers, which saves a tenth of a replay's time."""
    return [0.0] * size


@lru_cache(maxsize=1)
def _scratch_on_the_stack() -> Any:
    """`scratch` for compiled code, an array on the stack: numba's own arrays are on the heap."""
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.np import arrayobj

    array = types.Array(types.float64, 1, "C")
    kinds: Any = types
    stack: Any = cgutils
    arrays: Any = arrayobj

    @intrinsic(prefer_literal=True)
    def scratch(typing: Any, size: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            def number(value: int) -> Any:
                return context.get_constant(types.intp, value)

            slots = size.literal_value
            room = context.get_value_type(kinds.UniTuple(types.float64, slots))
            place = stack.alloca_once(builder, room)
            first = builder.bitcast(place, context.get_value_type(types.float64).as_pointer())
            made = arrays.make_array(array)(context, builder)
            arrays.populate_array(made, first, [number(slots)], [number(8)], number(8), None)
            return made._getvalue()

        return array(size), code

    return scratch


def specialise(kernel: Function, label: str, **rules: Function | int) -> Any:
    """`kernel`, compiled, with the globals named in `rules` bound to these functions (compiled too)
    and constants.

    The names are replaced in `kernel` and in every plain function that it calls. Runs without the
    GIL. Cached on disk under a name that contains `label`, where numba finds a folder for that.
    Without numba: the same, not compiled.
    """
    return _specialised(kernel, label, tuple(sorted(rules.items())))


@lru_cache(maxsize=256)
def _specialised(
    kernel: Function, label: str, rules: tuple[tuple[str, Function | int], ...]
) -> Any:
    readable = "".join(letter if letter.isalnum() else "_" for letter in label)
    functions = {key: value for key, value in rules if not isinstance(value, int)}
    constants = {key: value for key, value in rules if isinstance(value, int)}
    code = fingerprint(kernel, *functions.values(), **constants)
    compiled = constants | {key: rule(function) for key, function in functions.items()}
    copy = _rebound(kernel, f"_{readable}_{code}", compiled)
    try:
        return _compiled(copy, nogil=True, cache=True)
    except RuntimeError:  # numba finds no folder that it may write to
        return _compiled(copy, nogil=True)


def announce(tell: Callable[[str], None]) -> None:
    """Call `tell` with a sentence whenever a kernel has to be compiled, which takes some seconds,
    once on a machine."""
    if not available():
        return
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            dispatcher = event.data["dispatcher"]
            if dispatcher.targetoptions.get("nogil"):
                name = dispatcher.py_func.__name__.rpartition("_")[0].replace("_", " ")
                tell(f"compiling {name} (some seconds, once on this machine)")

        def on_end(self, event: Any) -> None:
            """Required by numba; nothing to announce."""

    register: Any = event.register
    register("numba:compile", Listener())


def _rebound(function: Function, suffix: str, bound: dict[str, Any]) -> FunctionType:
    """A copy of `function` that sees `bound` and compiled helpers as globals.

    `suffix` is appended to its name and to those of helpers that see `bound`: machine code is
    linked by name, so different functions in one process must have different names.
    """
    names = dict(function.__globals__)
    for key, value in _references(function.__code__, names):
        if isinstance(value, FunctionType) and key not in bound:
            names[key] = _helper(value, suffix, bound)
    copy = FunctionType(function.__code__, names | bound, function.__name__ + suffix)
    copy.__qualname__ = function.__qualname__ + suffix
    return copy


def _helper(function: FunctionType, suffix: str, bound: dict[str, Any]) -> Any:
    if not bound.keys() & set(_names(function)):
        return rule(function)
    return _compiled(_rebound(function, suffix, bound), forceinline=True)


def _names(function: FunctionType) -> Iterator[str]:
    """The globals that `function` and everything it calls refer to."""
    for key, value in _references(function.__code__, function.__globals__):
        yield key
        if isinstance(value, FunctionType):
            yield from _names(value)


def _references(code: CodeType, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in sorted(set(code.co_names)):
        if name in names:
            yield name, names[name]


def as_arrays(values: Any) -> Any:
    """`values` with lists and tuples as arrays, also inside named tuples, as numba needs them."""
    if hasattr(values, "_fields"):
        return type(values)(*(as_arrays(part) for part in values))
    if not isinstance(values, list | tuple):
        return values
    import numpy as np

    return np.array(values)


def arrays(lists: Iterable[list[int]], kinds: Iterable[str]) -> Iterator[Any]:
    """The `lists` as arrays of these numpy types."""
    import numpy as np

    return map(np.array, lists, kinds)


def as_lists(values: Any) -> Any:
    """`values` with arrays as lists, also inside (named) tuples: fastest to index in Python."""
    if hasattr(values, "tolist"):
        return values.tolist()
    if hasattr(values, "_fields"):
        return type(values)(*(as_lists(part) for part in values))
    return tuple(as_lists(part) for part in values) if isinstance(values, tuple) else values


def fingerprint(*functions: Function, **constants: int) -> str:
    """Twelve hex digits of the code of `functions`, of all they call, and of all constants."""
    parts = [f"{name}={value}" for name, value in constants.items()]
    seen: set[Function] = set()
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function in seen or not isinstance(function, FunctionType):
            continue
        seen.add(function)
        code = function.__code__
        parts.append(f"{function.__module__}.{function.__qualname__}")
        parts.append(f"{code.co_code.hex()} {code.co_consts!r} {code.co_names!r}")
        for name, value in _references(code, function.__globals__):
            if isinstance(value, FunctionType):
                waiting.append(value)
            elif not isinstance(value, ModuleType):
                parts.append(f"{name}={value!r}")
    return sha256("\n".join(sorted(parts)).encode()).hexdigest()[:12]
