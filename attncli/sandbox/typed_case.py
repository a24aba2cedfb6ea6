"""Run a case that the learner typed, and record its calls of the entry points instead of making them.

The text is a program, or the arguments of the first entry point. Names of torch need no prefix, unless Python has the
same name. A call returns a `Result`, which later calls may take. A dict or list with a name is one object in all calls.
"""

from __future__ import annotations

import ast
import builtins
import math
import random
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from . import devices
from .values import Packer, Tree, bytes_of, describe_tensor

FILE = "<case>"
# The functions of torch that can be passed to a challenge.
FUNCTIONS = ("relu", "tanh", "sigmoid", "exp", "abs", "square", "sin", "cos")


class Result:
    """Placeholder for the result of a recorded call, or for a part of it."""

    __iter__ = None

    def __init__(self, case: TypedCase, call: int, methods: Sequence[str], path: tuple[int | str, ...] = ()) -> None:
        self._case, self._call, self._methods, self._path = case, call, methods, path

    def __getitem__(self, key: int | str) -> Result:
        if type(key) not in (int, str):
            raise TypeError("a part of a result has a number or a name")
        return Result(self._case, self._call, (), (*self._path, key))

    def __getattr__(self, name: str) -> Any:
        if name not in self._methods:
            known = ", ".join(self._methods) or "no methods"
            raise AttributeError(f"a result has no {name} before the call is made; it has {known}")
        return partial(self._case.record, name, self._call, ())


class TypedCase:
    """Records the calls of one text. `entries` maps each entry point to the methods of the objects it makes."""

    def __init__(self, text: str, entries: Mapping[str, Sequence[str]]) -> None:
        self._text, self._entries = text, entries
        self._calls: list[dict[str, Any]] = []
        self._functions: list[Any] = []
        self._generators: list[Any] = []
        self._containers: list[Any] = []
        self._shared: list[Tree] = []
        self._copies: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
        self._packer = Packer(self._pack)
        self._named: Sequence[Any] = ()
        self._results_packed = 0
        self._namespace: dict[str, Any] = {**vars(torch), "torch": torch, "math": math, **vars(builtins)}
        for name, methods in entries.items():
            self._namespace[name] = partial(self.record, name, None, methods)

    def run(self) -> tuple[dict[str, Any], list[bytes]]:
        """Run the text; the same text draws the same numbers. Returns the reply's header and tensor bytes."""
        devices.seed_all(devices.CPU, 0)
        random.seed(0)
        try:
            code = compile(self._program(), FILE, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise SyntaxError(f"{error.msg}, column {error.offset}") from None
        exec(code, self._namespace)
        return {
            "op": "case",
            "calls": self._calls,
            "shared": self._shared,
            "functions": [function.__name__ for function in self._functions],
            "generators": [generator.initial_seed() for generator in self._generators],
            "tensors": [describe_tensor(tensor) for tensor in self._packer.tensors],
        }, [bytes_of(tensor) for tensor in self._packer.tensors]

    def _program(self) -> ast.Module:
        """Return the text as a program; if it names no entry point, as the arguments of the first one."""
        program: ast.Module | None = None
        fault: SyntaxError | None = None
        try:
            program = ast.parse(self._text)
        except SyntaxError as error:
            fault = error
        if program and any(isinstance(node, ast.Name) and node.id in self._entries for node in ast.walk(program)):
            return program
        try:
            call = ast.parse(f"{next(iter(self._entries))}(\n{self._text}\n)")
        except SyntaxError as error:
            if program:
                return program
            inside = 1 < (error.lineno or 0) < self._text.count("\n") + 3
            raise error if inside or fault is None else fault from None
        ast.increment_lineno(call, -1)
        return call

    def place_of(self, trace: TracebackType | None) -> list[dict[str, Any]]:
        """Return the line and the part of the text at which an exception arose, as a frame; none if it is unknown."""
        found: list[dict[str, Any]] = []
        lines = ["", *self._text.split("\n")]
        for frame in traceback.extract_tb(trace):
            if frame.filename == FILE and frame.lineno and frame.lineno == frame.end_lineno:
                line = "".join(lines[frame.lineno : frame.lineno + 1])
                code = line.encode()[frame.colno : frame.end_colno].decode(errors="replace")
                found = [{"line": frame.lineno, "function": frame.name, "code": code}]
        return found

    def record(self, name: str, owner: int | None, methods: Sequence[str], /, *args: Any, **named: Any) -> Result:
        """Record a call of an entry point, or of a method of the object that the call `owner` makes."""
        self._named = [value for value in self._namespace.values() if type(value) in (list, dict)]
        trees = [self._packer.pack(value) for value in args]
        kwargs = {key: self._packer.pack(value) for key, value in named.items()}
        self._calls.append({"name": name, "owner": owner, "args": trees, "kwargs": kwargs})
        return Result(self, len(self._calls) - 1, methods)

    def _pack(self, value: Any) -> Tree | None:
        if type(value) is Result:
            self._results_packed += 1
            return ["r", value._call, list(value._path)]
        if type(value) is Tensor:
            return self._packer.tensor(self._copy(value))
        if type(value) is torch.Generator:
            return ["g", _place(self._generators, value)]
        if any(value is getattr(torch, name) for name in FUNCTIONS):
            return ["c", _place(self._functions, value)]
        return self._share(value) if any(value is container for container in self._named) else None

    def _copy(self, tensor: Tensor) -> Tensor:
        """Return one copy for all calls, unless the text changes the tensor between them."""
        key = id(tensor), tensor._version
        if key not in self._copies:
            self._copies[key] = tensor, tensor.detach().clone()
        return self._copies[key][1]

    def _share(self, container: Any) -> Tree:
        """Return a reference to a shared object; a container of results, which do not exist yet, by value."""
        named, self._named, results = self._named, (), self._results_packed
        tree = self._packer.pack(container)
        self._named = named
        if self._results_packed > results:
            return tree
        index = _place(self._containers, container)
        if index == len(self._shared):
            self._shared.append(tree)
        if tree != self._shared[index]:
            raise ValueError("a dict or list that two calls take was changed between them")
        return ["m", index]


def _place(kept: list[Any], value: Any) -> int:
    """Return the position of this very object, which is appended if it is new."""
    for index, known in enumerate(kept):
        if known is value:
            return index
    kept.append(value)
    return len(kept) - 1
