"""Run the learner's tests on one solution, in a worker of a zygote that has imported Hypothesis and pytest.

The solution stays hidden: it is compiled without docstrings, annotations and file, and the tests get its functions
wrapped in objects that show nothing of what they call. A worker runs one solution, so nothing is kept between two.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import linecache
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

LIBRARIES = ("hypothesis", "pytest")
"""The packages that tests may import in addition to torch and the standard library."""
OPERATIONS = frozenset({"tests", "test"})
ASSERTING = frozenset({"raises", "fail", "assert_close", "assert_allclose"})
"""Functions that make a test fail without an `assert` of its own."""
SEED, EXAMPLES = 0, 50
LONGEST_VALUE = 300
_SHOWN_VALUES = 8
_SOLUTION = "<solution>"


def import_libraries() -> None:
    """Import Hypothesis and pytest whole in the zygote, and use them once, since no worker may read files."""
    import torch

    for name in LIBRARIES:
        importlib.import_module(name)
    torch.testing.assert_close(torch.ones(1), torch.ones(1))
    hypothesis, pytest = (sys.modules[name] for name in LIBRARIES)
    for package in ("hypothesis.internal", "hypothesis.internal.conjecture", "hypothesis.strategies._internal"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            with suppress(ImportError):  # a part for a library that is not installed
                importlib.import_module(f"{package}.{module.name}")
    # It would search every loaded module for constants to try.
    providers = sys.modules["hypothesis.internal.conjecture.providers"]
    none = providers.Constants()
    providers._get_local_constants = lambda: none  # type: ignore[attr-defined]
    use_hypothesis(shrinks=True)
    strategies = importlib.import_module("hypothesis.strategies")

    def fails(number: int, numbers: list[float]) -> None:
        assert number < 2 or numbers == pytest.approx([])

    with suppress(BaseException):
        hypothesis.given(strategies.integers(0, 3), strategies.lists(strategies.floats(0, 1), max_size=2))(fails)()


def use_hypothesis(shrinks: bool) -> None:
    """Make Hypothesis draw the same examples every time, keep no files and read no clock, and shrink if asked."""
    hypothesis = sys.modules["hypothesis"]
    without = {"explain"} | (set() if shrinks else {"shrink"})
    hypothesis.settings.register_profile(
        "attn",
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
        phases=[phase for phase in hypothesis.Phase if phase.name not in without],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("attn")


@dataclass(slots=True)
class TestSession:
    """The tests and the solution of this worker; `filename` names the file of the tests."""

    filename: str = ""
    entries: dict[str, Any] = field(default_factory=dict)
    tests: dict[str, Callable[..., Any]] = field(default_factory=dict)
    recorder: Recorder = field(default_factory=lambda: Recorder())

    def load(self, header: Mapping[str, Any], payload: bytes, prepare_kernels: Callable[[], None]) -> dict[str, Any]:
        """Load the solution, the first `size` bytes of the payload, then the tests. Returns the reply to "tests"."""
        self.filename = header["filename"]
        use_hypothesis(header["shrinks"])
        solution, source = payload[: header["size"]], payload[header["size"] :]
        if header["kernel"]:
            prepare_kernels()
        namespace = load_solution(solution, header["kernel"])
        self.entries = {name: self.recorder.hidden(namespace[name]) for name in header["entry"]}
        module = types.ModuleType("test_file")
        module.__file__ = self.filename
        sys.modules["test_file"] = module
        text = source.decode("utf-8", "replace")
        linecache.cache[self.filename] = (len(text), None, text.splitlines(keepends=True), self.filename)
        tree = ast.parse(source, self.filename)
        builtins.exec(compile(tree, self.filename, "exec", dont_inherit=True), module.__dict__)
        found = {name: value for name, value in vars(module).items() if name.startswith("test")}
        self.tests = {name: value for name, value in found.items() if isinstance(value, types.FunctionType)}
        asserting = asserting_functions(tree)
        return {
            "op": "tests",
            "tests": [
                {"name": name, "needs": list(_parameters(test)), "asserts": name in asserting}
                for name, test in self.tests.items()
            ],
        }

    def run(self, name: str) -> dict[str, Any]:
        """Run one test; it raises where the solution fails it. Returns the reply to "test"."""
        import torch

        test = self.tests[name]
        torch.manual_seed(SEED)
        self.recorder.last = None
        test(**{parameter: self.entries[parameter] for parameter in _parameters(test) if parameter in self.entries})
        return {"op": "test"}

    def failure(self, error: BaseException | None) -> dict[str, str]:
        """Return the last result of the solution, and Hypothesis's example, for the reply of a failed test."""
        notes = getattr(error, "__notes__", None)
        note = next((str(note) for note in notes if type(note) is str), "") if type(notes) is list else ""
        return {"returned": shown(self.recorder.last), "example": " ".join(note.split())[:LONGEST_VALUE]}


def _parameters(test: Callable[..., Any]) -> Iterator[str]:
    """Yield the parameters of a test that have no default."""
    for name, parameter in inspect.signature(test).parameters.items():
        if parameter.default is inspect.Parameter.empty and parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            yield name


class Recorder:
    """Hides functions from the tests, and keeps the last result that one returned."""

    def __init__(self) -> None:
        self.last: Any = None

    def hidden(self, entry: Any) -> Any:
        """Return a callable that calls a function, and through which the function cannot be seen.

        functools implements it in C, without a reference that Python code could follow. Classes stay as they are.
        """
        if isinstance(entry, type):
            return entry

        def call(*args: Any, **kwargs: Any) -> Any:
            result = entry(*args, **kwargs)
            self.last = result
            return result

        wrapper: Any = functools._lru_cache_wrapper
        return wrapper(call, 0, False, tuple)


def shown(value: Any) -> str:
    """Return a short text of a result: shape, dtype and the first numbers of a tensor."""
    import torch

    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        numbers = value.detach().reshape(-1)[:_SHOWN_VALUES].tolist() if value.device.type == "cpu" else []
        listed = ", ".join(f"{number:.6g}" if isinstance(number, float) else str(number) for number in numbers)
        more = ", …" if value.numel() > len(numbers) else ""
        return f"{dtype} {list(value.shape)}: {listed}{more}"[:LONGEST_VALUE]
    if isinstance(value, (tuple, list)):
        return "(" + "; ".join(map(shown, value[:4])) + ")"
    return (
        repr(value)[:LONGEST_VALUE] if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__
    )


# The solution without its source


def load_solution(source: bytes, kernel: bool) -> dict[str, Any]:
    """Execute a solution and return its names. A kernel keeps its source, which Triton's interpreter reads."""
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    tree = ast.parse(source)
    _strip(tree)
    if kernel:
        text = ast.unparse(tree)
        linecache.cache[_SOLUTION] = (len(text), None, text.splitlines(keepends=True), _SOLUTION)
        tree = ast.parse(text)
    builtins.exec(compile(tree, _SOLUTION, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _strip(tree: ast.Module) -> None:
    """Remove docstrings, and the annotations of functions without a decorator (Triton reads those of kernels)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass(lineno=node.body[0].lineno, col_offset=0)]
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            node.returns = None
            given = node.args
            for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
                if argument is not None:
                    argument.annotation = None


def asserting_functions(tree: ast.Module) -> set[str]:
    """Return the functions of a file that can fail by an assertion, their own or that of a function they name."""
    names = {node.name: _names(node) for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    found = {name for name, used in names.items() if "assert" in used or used & ASSERTING}
    while more := {name for name, used in names.items() if name not in found and used & found}:
        found |= more
    return found


def _names(function: ast.AST) -> set[str]:
    used: Sequence[str] = [
        "assert" if isinstance(node, ast.Assert) else node.attr if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assert | ast.Attribute | ast.Name)
    ]
    return set(used)
