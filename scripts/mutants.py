"""Mutation testing of one room of `publisher`, by cosmic-ray's operators.

`python scripts/mutants.py [COUNT] [SEED] [ROOM] [FILES]` changes a copy of the committed code in
COUNT (100) places, one at a time and drawn at random, and runs the quick tests that go through the
changed statement, those of the module's own test file first, until one fails. It prints each mutant
that no test notices, and how many were noticed: a survivor is either no change of behaviour or a
test that is missing. What cannot be imported (types, mostly) says nothing about tests and is not
counted. FILES, a part of a path, has only such files of the room changed.

The tests are collected once; each mutant is a fork in which the changed functions have other code.
"""

import ast
import gc
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import unified_diff
from functools import partial
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from warnings import catch_warnings

import pytest

ROOT = Path(__file__).parent.parent
# The simulator's other tests are about its compiled code, and nothing is compiled here.
OF_RULES = "dynamic_ttl simulator/test_results.py test_civil_dates.py test_parity.py"
# What of `publisher` is changed, and the tests that can be expected to notice.
ROOMS = {
    "core": ("dynamic_ttl/core", f"{OF_RULES} test_same_figures.py"),
    "feeds": ("feeds", "feeds publishing"),
    "blog": ("blog publishing", "blog publishing test_content.py test_same_figures.py"),
    "feed_reading": ("feed_reading", "feed_reading"),
    "importing": ("parts/importing", "parts/importing"),
}
OPTIONS = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not system"]
QUIET = ["-W", "ignore::SyntaxWarning"]  # what a changed "==" may bring is no test's finding
NOT_IMPORTABLE = 9
FAILED = Path("../failed")  # the name of the test that noticed


class Mutant(NamedTuple):
    """One change: the which-th place of a file to which an operator applies, and its lines."""

    file: str
    operator: str
    which: int
    lines: range


class Known(NamedTuple):
    """What the tests did with the code as it is: each one's seconds, the tests of each line."""

    seconds: dict[str, float]
    by_line: dict[str, dict[int, list[str]]]
    functions: list[FunctionType]
    sound: set[str]  # tests that pass without a change, also a second time

    def at_import(self, file: str, statement: range) -> bool:
        """Whether a statement runs when its module is imported, also in a function."""
        lines = self.by_line.get(file, {})
        return any("" in lines.get(line, ()) for line in statement)

    def tests(self, mutant: Mutant, statement: range, at_import: bool) -> list[str]:
        """The tests that may notice: the module's own first, then the quickest files'."""
        lines = self.by_line.get(mutant.file, {})
        asked = lines if at_import else statement
        tests = {test for line in asked for test in lines.get(line, ())} & set(self.seconds)
        files = defaultdict[str, float](float)
        for test in tests:
            files[test.split("::")[0]] += self.seconds[test]
        own = f"test_{Path(mutant.file).name}"
        return sorted(tests, key=lambda test: (
            (file := test.split("::")[0]).split("/")[-1] != own, files[file], file
        ))  # fmt: skip


def main(count: int, seed: int, room: str, part_of_path: str) -> int:
    """Print what became of so many mutants of a room, in files whose path has a part."""
    folders, tests = (words.split() for words in ROOMS[room])
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiled rules would not be the changed ones
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy").resolve()
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        os.chdir(copy)
        sys.path.insert(0, str(copy))
        # The copy keeps its bytecode, whatever the environment says: programs that import a changed
        # file anew would else compile all the others, too.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        rooms = [Path("publisher", folder) for folder in folders]
        plugin = Mutants(count, seed, rooms, part_of_path)
        return int(pytest.main([*OPTIONS, *(f"tests/{test}" for test in tests)], plugins=[plugin]))


class Mutants:
    """Runs, in place of the collected tests, some of them for each mutant."""

    def __init__(self, count: int, seed: int, folders: list[Path], part_of_path: str) -> None:
        self.count, self.seed, self.folders = count, seed, folders
        self.part_of_path = part_of_path

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Draw the mutants and print what becomes of each."""
        known = _known(session, self.folders)
        files = sorted(file for folder in self.folders for file in folder.rglob("*.py"))
        changed = [file for file in files if self.part_of_path in str(file)]
        mutants = [mutant for file in changed for mutant in _mutants(file)]
        _say(f"{len(mutants)} places, {self.count} of them by seed {self.seed}")
        random.Random(self.seed).shuffle(mutants)  # noqa: S311
        noticed = counted = 0
        for mutant in mutants:
            if (found := _is_noticed(mutant, known, session)) is not None:
                noticed, counted = noticed + found, counted + 1
            if counted == self.count:
                break
        _say(f"{noticed} of {counted} mutants were noticed")
        return True


def _say(line: str) -> None:
    print(line, flush=True)


def _known(session: pytest.Session, folders: list[Path]) -> Known:
    """What the tests do with the code as it is; those that fail are told and left out."""
    from coverage import Coverage, CoverageData

    data, told, report = (Path("..", name).resolve() for name in ("data", "told", "report"))

    # What runs when the tests are collected has no test's name in the data.
    include = [f"{folder}/*" for folder in folders]
    subprocess.run(
        [sys.executable, "-m", "coverage", "run", "--branch", "--rcfile=", f"--data-file={data}",
         f"--include={','.join(include)}", "-m", "pytest", "--collect-only", *OPTIONS,
         *session.config.args],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip

    def measure() -> int:
        _confine_nothing()
        coverage = Coverage(str(data), branch=True, config_file=False, include=include)
        coverage.load()
        seconds = {}
        coverage.start()
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            coverage.switch_context(item.nodeid)
            before, began = session.testsfailed, time.process_time()
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed == before:
                seconds[item.nodeid] = time.process_time() - began
        coverage.stop()
        coverage.save()
        told.write_text(json.dumps(seconds))
        with report.open("w") as file:
            coverage.report(show_missing=True, skip_covered=True, file=file)
        return 0

    _in_a_fork(measure)
    seconds = json.loads(told.read_text())
    _say("Branches that no test takes:")
    _say(report.read_text())
    _say(f"{len(seconds)} tests, {sum(seconds.values()):.0f} s; these fail without a change:")
    _say(" ".join(item.nodeid for item in session.items if item.nodeid not in seconds))
    measured = CoverageData(str(data))
    measured.read()
    files = measured.measured_files()
    by_line = {
        str(Path(file).relative_to(Path.cwd())): measured.contexts_by_lineno(file) for file in files
    }
    gc.unfreeze()
    functions = [
        value
        for value in gc.get_objects()
        if type(value) is FunctionType and value.__code__.co_filename in files
    ]
    gc.freeze()  # a fork would copy whatever is looked at for garbage
    return Known(seconds, by_line, functions, set())


def _confine_nothing() -> None:
    """Have what is done in confined processes done in this one, where its lines are counted."""
    from publisher.base.system import confined

    class Here(confined._Process):
        """As a process: the same answers, in the end also to what would never end."""

        def __init__(self, _memory_bytes: int) -> None:
            self.tasks = 0

        def start(self, task: Callable[..., Any], *arguments: Any, seconds: float) -> None:
            self._answers = confined._answers(task, *arguments)

        def _receive(self, until: float) -> tuple[bytes, bytes]:
            with confined.at_most(10 * (until - time.monotonic())):
                return next(self._answers)

        def end(self) -> None:
            """Nothing was started."""

    confined._Process = Here  # type: ignore[assignment, misc]


def _mutants(file: Path) -> Iterator[Mutant]:
    """Each change of a file that an operator knows."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(file.read_text())
    for name in sorted(operator_names()):
        if not (kind := get_operator(name)).arguments():
            places = (
                place for node in ast_nodes(tree) for place in kind().mutation_positions(node)
            )
            for which, (start, end) in enumerate(places):
                yield Mutant(str(file), name, which, range(start[0], end[0] + 1))


def _is_noticed(mutant: Mutant, known: Known, session: pytest.Session) -> bool | None:
    """Whether a test notices a mutant; none if it cannot be imported."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    path = Path(mutant.file)
    source = path.read_text()
    changed = mutate_code(source, get_operator(mutant.operator)(), mutant.which)
    name = str(path.resolve())
    place = f"{mutant.file}:{mutant.lines[0]} {mutant.operator}"
    before = compile(source, name, "exec")
    try:
        with catch_warnings(action="ignore", category=SyntaxWarning):  # "is" with a literal
            after = compile(changed, name, "exec")
    except SyntaxError:
        _say(f"cannot be imported: {place}")
        return None
    statement = _statement(source, mutant.lines)
    at_import = _at_import(before) != _at_import(after) or known.at_import(mutant.file, statement)
    began, run = time.monotonic(), partial(_run_changed, session, known)
    while True:
        tests = known.tests(mutant, statement, at_import)
        FAILED.write_text("")
        with _written(path, changed):
            if at_import:
                code = _in_a_fork(partial(_import, path, after))
                seconds = sum(known.seconds[test] for test in tests)
                code = code or _in_a_fork(partial(_run_anew, tests, seconds))
            else:
                code = _in_a_fork(partial(run, tests, name, after))
        failed = FAILED.read_text()
        if not failed or failed in known.sound:
            break
        if not _in_a_fork(partial(run, [failed], name, before)):
            known.sound.add(failed)
            break
        _say(f"cannot be run a second time, and is left out: {failed}")
        del known.seconds[failed]
    if code == NOT_IMPORTABLE:
        _say(f"cannot be imported: {place}")
        return None
    _say(f"{'noticed' if code else 'SURVIVED'}: {place}, "
         f"{len(tests)} tests, {time.monotonic() - began:.0f} s")  # fmt: skip
    if not code:
        diff = unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=2)
        _say("\n".join(list(diff)[2:]))
    return bool(code)


def _statement(source: str, lines: range) -> range:
    """The lines of the statement that the given ones are in, without the block below it."""
    affected = lines
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= lines[0] <= (node.end_lineno or 0):
            block = getattr(node, "body", None)
            end = max(node.lineno, block[0].lineno - 1) if block else node.end_lineno or 0
            if lines[0] <= end:
                affected = range(node.lineno, end + 1)
    return affected


def _at_import(code: CodeType) -> list[object]:
    """What of a module's code runs when it is imported: all but the code of its functions."""
    parts: list[object] = [code.co_code, code.co_names]
    for const in code.co_consts:
        if not isinstance(const, CodeType):
            parts.append(const)
        elif not const.co_flags & CO_OPTIMIZED or const.co_name in {
            "<listcomp>",
            "<setcomp>",
            "<dictcomp>",
            "<genexpr>",
        }:
            parts.append(_at_import(const))
    return parts


@contextmanager
def _written(path: Path, changed: str) -> Iterator[None]:
    """The file has the changed text, also for programs that tests start."""
    source, times = path.read_bytes(), path.stat()
    try:
        path.write_text(changed)
        yield
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _in_a_fork(work: Callable[[], int]) -> int:
    """What `work` returns in a process of its own; another status if that dies."""
    if not (child := os.fork()):
        with suppress(BaseException):
            os.setsid()
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            # A mutant is as new and often as long as the next one: its bytecode would be taken.
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            os._exit(work())
        os._exit(1)
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # the programs that it started
    return os.waitstatus_to_exitcode(status)


def _import(path: Path, code: CodeType) -> int:
    """Whether a changed module can be imported: 0, or NOT_IMPORTABLE."""
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    fresh = ModuleType(name)
    fresh.__dict__.update(__file__=str(path), __package__=sys.modules[name].__package__)
    sys.modules[name] = fresh
    signal.alarm(60)
    try:
        exec(code, fresh.__dict__)  # noqa: S102  # nosec B102: our own code, changed
    except Exception:
        return NOT_IMPORTABLE
    return 0


def _run_anew(tests: list[str], seconds: float) -> int:
    """pytest's status for tests, which take so many seconds, in a program of their own: it imports
    the changed file."""
    if not tests:
        return 0
    # More names than one program takes: whole files.
    names = (
        tests if len(tests) < 200 else list(dict.fromkeys(test.split("::")[0] for test in tests))
    )
    signal.alarm(round(600 + 100 * seconds))  # what is only slow must not count as noticed
    program = [sys.executable, "-m", "pytest", "-x", *QUIET, *OPTIONS, *names]
    return subprocess.run(program, check=False).returncode


def _run_changed(
    session: pytest.Session, known: Known, tests: list[str], file: str, code: CodeType
) -> int:
    """1 as soon as one of the tests fails where the file's functions have the changed code."""
    changed = {(inner.co_qualname, inner.co_firstlineno): inner for inner in _codes(code)}
    for function in known.functions:
        old = function.__code__
        if old.co_filename == file and (new := changed.get((old.co_qualname, old.co_firstlineno))):
            function.__code__ = new
    items = {item.nodeid: item for item in session.items}
    chosen = [items[test] for test in tests]
    if not chosen:
        return 0  # no test goes through it
    before = session.testsfailed
    for item, following in zip(chosen, [*chosen[1:], None], strict=True):
        # A change may make a loop endless, or wait for what never comes: the process ends then.
        signal.setitimer(signal.ITIMER_PROF, 10 + 10 * known.seconds[item.nodeid])
        signal.setitimer(signal.ITIMER_REAL, 100 + 100 * known.seconds[item.nodeid])
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed > before:
            FAILED.write_text(item.nodeid)
            return 1
    return 0


def _codes(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _codes(const)


if __name__ == "__main__":
    count, seed, room, path = [*sys.argv[1:], *("100", "1", "core", "")[len(sys.argv) - 1 :]]
    sys.exit(main(int(count), int(seed), room, path))
