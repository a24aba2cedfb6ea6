"""A case out of what a learner types: the arguments of the entry point, or calls of it one after the other.

`randn(1, 2, 4), base=100.0` · `apply_rope(torch.tensor([[1.0, 0.0]]), base=100.0)` ·
`cache = StaticKVCache(1, 2, 8, 4); cache.append(randn(1, 2, 1, 4), randn(1, 2, 1, 4))`
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case, Handle
from attncli.judge.cases.profiles import profile_of
from attncli.judge.challenge import Folder
from attncli.judge.drawing import fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.trying.typed_values import Kept, Result, TypedFunction, TypedGenerator, TypedValues
from attncli.judge.trying.untypable import code_of, untypable
from attncli.sandbox.tensor_walk import tensors_in

MOST_CHARACTERS = 8_000
MOST_CALLS = 16
_PROFILES = {torch.float64: "float64", torch.bfloat16: "bf16", torch.float16: "fp16"}


@dataclass(frozen=True, slots=True)
class TypedCall:
    """One call: of an entry point, or of the method of an object that an earlier call made."""

    name: str
    args: Sequence[Any]
    named: Mapping[str, Any]
    owner: Result | None = None


def typed_case(text: str, folder: Folder) -> Case:
    """The case. Raises Untypable with one line that says what cannot be used, and what can."""
    program = _Program(folder)
    program.read(text)
    return _recorded(program.calls, folder)


class _Program:
    """The calls of what was typed, in the order in which Python would make them."""

    def __init__(self, folder: Folder) -> None:
        self.calls: list[TypedCall] = []
        self._entries = {name: folder.reference.__dict__[name] for name in folder.entry}
        self._values = TypedValues(self._called)

    def read(self, text: str) -> None:
        for statement in self._statements(text):
            match statement:
                case ast.Expr(value=value):
                    self._values.of(value)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    made = self._values.of(value)
                    self._values.names[name] = Kept(made) if isinstance(made, (dict, list)) else made
                case _:
                    raise untypable("typed-not-allowed", code=code_of(statement))
        if not self.calls:
            raise untypable("typed-no-call", names=", ".join(self._entries))

    def _statements(self, text: str) -> list[ast.stmt]:
        """What was typed, where it calls no entry point as the arguments of the first."""
        if len(text) > MOST_CHARACTERS:
            raise untypable("typed-too-long", count=MOST_CHARACTERS)
        try:
            found = ast.parse(text.strip())
        except SyntaxError:
            found = None
        except (ValueError, RecursionError, MemoryError) as error:
            raise untypable("typed-syntax", error=str(error)) from None
        if found is not None and any(self._is_entry(node) for node in ast.walk(found)):
            return found.body
        try:
            return ast.parse(f"{next(iter(self._entries))}({text.strip()}\n)").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise untypable("typed-syntax", error=getattr(error, "msg", str(error))) from None

    def _is_entry(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._entries

    def _called(self, node: ast.Call) -> Result:
        args, named = self._values.arguments(node)
        match node.func:
            case ast.Name(id=name) if name in self._entries:
                _fits(name, self._entries[name], args, named)
                return self._add(TypedCall(name, args, named))
            case ast.Attribute(value=owner, attr=name) if self._has(made := self._values.of(owner), name):
                return self._add(TypedCall(name, args, named, made))
        raise untypable("typed-not-called", code=code_of(node.func), names=", ".join(self._entries))

    def _has(self, made: Any, name: str) -> bool:
        """Whether it is an object that an entry point of the challenge makes, with a method of this name."""
        if not isinstance(made, Result) or made.path or name.startswith("_"):
            return False
        kind = self._entries.get(self.calls[made.call].name)
        return isinstance(kind, type) and inspect.isfunction(vars(kind).get(name))

    def _add(self, call: TypedCall) -> Result:
        self.calls.append(call)
        if len(self.calls) > MOST_CALLS:
            raise untypable("typed-too-many-calls", count=MOST_CALLS)
        return Result(len(self.calls) - 1)


def _fits(name: str, entry: Any, args: Sequence[Any], named: Mapping[str, Any]) -> None:
    """The arguments are those that the entry point asks for."""
    if isinstance(entry, type) and issubclass(entry, torch.nn.Module):
        raise untypable("typed-module", name=name)
    parameters = list(inspect.signature(entry).parameters.values())
    known = [p.name for p in parameters]
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
        return
    if len(args) > len(known):
        raise untypable("typed-too-many", name=name, count=len(known), got=len(args))
    for given in named:
        if given not in known or given in known[: len(args)]:
            key = "typed-twice" if given in known else "typed-other-name"
            raise untypable(key, name=name, given=given, known=", ".join(known))
    missing = [p.name for p in parameters[len(args) :] if p.default is p.empty and p.name not in named]
    if missing:
        raise untypable("typed-missing", name=name, missing=", ".join(missing))


def _recorded(calls: Sequence[TypedCall], folder: Folder) -> Case:
    floating = [t.dtype for call in calls for t in _tensors(call) if t.is_floating_point()]
    profile = next((_PROFILES[dtype] for dtype in floating if dtype in _PROFILES), "ordinary")
    make = Recorder(fixed_draw, profile_of(profile, folder.facts), declared=folder.declared)
    passing = _Passing(make)
    for call in calls:
        args = [passing.on(value) for value in call.args]
        named = {name: passing.on(value) for name, value in call.named.items()}
        if call.owner is not None:
            handle = make.method(passing.handles[call.owner.call], call.name, *args, **named)
        elif isinstance(folder.reference.__dict__[call.name], type):
            handle = make.new(call.name, *args, **named)
        else:
            handle = make.call(call.name, *args, **named)
        passing.handles.append(handle)
    return make.case


def _tensors(call: TypedCall) -> list[Tensor]:
    values = [value.value if isinstance(value, Kept) else value for value in (*call.args, *call.named.values())]
    return list(tensors_in(values))


class _Passing:
    """Typed values as a recorder takes them."""

    def __init__(self, make: Recorder) -> None:
        self.handles: list[Handle] = []
        self._make = make
        self._kept: dict[int, Any] = {}

    def on(self, value: Any) -> Any:
        if isinstance(value, Result):
            return Handle(self.handles[value.call].step, value.path)
        if isinstance(value, Kept):
            return self._once(value, lambda: self._make.shared(value.value))
        if isinstance(value, TypedGenerator):
            return self._once(value, lambda: self._make.generator(value.seed))
        if isinstance(value, TypedFunction):
            return self._make.function(f"torch.{value.name}")
        if isinstance(value, (list, tuple)):
            return type(value)(self.on(item) for item in value)
        return {key: self.on(item) for key, item in value.items()} if isinstance(value, dict) else value

    def _once(self, value: Any, make: Any) -> Any:
        """The same object wherever it is passed on."""
        if id(value) not in self._kept:
            self._kept[id(value)] = make()
        return self._kept[id(value)]
