"""A case: what a challenge draws and calls, as a program of steps over a tensor table."""

from __future__ import annotations

import ast
import difflib
import inspect
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor

from attncli.domain.arithmetic import Number, compile_expression, names_in
from attncli.domain.challenge import FACTS
from attncli.errors import JudgeFailed
from attncli.judge.checks import CHECKS
from attncli.sandbox import devices
from attncli.sandbox.values import SEQUENCES, Tree

# Profiles: the dtype, amplitude and memory layout in which a case is drawn.

# The profile in which another device is tried; what names a device there names that one, and elsewhere the CPU.
ANOTHER_DEVICE = "meta"


@dataclass(frozen=True, slots=True)
class Profile:
    """`gain` and `offset` act on drawn floating values; `layout` "strided" stores tensors transposed or spaced.

    `device` is where the tensors lie when a program runs; they are drawn on the CPU, the same ones for every device.
    """

    name: str
    dtype: torch.dtype = torch.float32
    gain: float = 1.0
    offset: float = 0.0
    layout: str = "contiguous"
    device: str = "cpu"


_PLAIN: dict[str, Profile] = {
    "ordinary": Profile("ordinary"),
    "float64": Profile("float64", torch.float64),
    "bf16": Profile("bf16", torch.bfloat16),
    "fp16": Profile("fp16", torch.float16),
    "strided": Profile("strided", layout="strided"),
    "meta": Profile("meta", device="meta"),
}


def profile_of(name: str, facts: Facts) -> Profile:
    """The profile of that name; a challenge sets its own amplitudes with LARGE and OFFSET."""
    if name == "large":
        return Profile("large", gain=float(facts.large))
    if name == "offset":
        return Profile("offset", offset=float(facts.offset))
    return _PLAIN[name]


def graded_on(profile: Profile, device: str) -> Profile:
    """The profile in a grading on another device than the CPU: that is where its device check is made, too."""
    return replace(profile, device=device) if device in devices.AWAY else profile


def strata(check: str, facts: Facts, device: str = devices.CPU) -> tuple[Profile, ...]:
    """The profiles that a check draws from, one run each."""
    names = facts.profiles.get(check, CHECKS[check].strata)
    return tuple(graded_on(profile_of(name, facts), device) for name in names)


def relayout(tensor: Tensor, turn: int) -> Tensor:
    """The same values in another memory layout: transposed, as heads cut out of a projection, or every second element
    of longer rows.

    The rows are one longer than twice, so that no two dimensions can be merged without a copy.
    """
    if not tensor.is_contiguous():
        return tensor
    if tensor.dim() >= 3 and turn % 4 == 0:
        return tensor.transpose(-2, -3).contiguous().transpose(-2, -3)
    if tensor.dim() >= 2 and turn % 2 == 0:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if tensor.dim() >= 1 and tensor.numel() > 0:
        spaced = torch.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1] + 1), dtype=tensor.dtype)
        spaced[..., :-1:2] = tensor
        return spaced[..., :-1:2]
    return tensor


# What a property finds to be wrong, in English and in Chinese.
Complaint = tuple[str, str]


class DigitsLost(tuple[str, str]):
    """A complaint about float64 results that are right to the digits of float32."""


CallsHold = Callable[[list[Any], list[Any]], Complaint | None]


@dataclass(slots=True)
class Input:
    """One tensor of a case: `grad` asks for its gradient, `follow` lets the judge evaluate it in float64.

    `composed`: its values obey laws that the challenge alone knows (a row of probabilities): they are not made simpler.
    """

    value: Tensor
    grad: bool
    follow: bool
    composed: bool = False


@dataclass(slots=True)
class Case:
    """A program and everything it needs; `sizes` are the numbers drawn for it, small ones first when shrinking.

    Of the steps that are `ignored`, those `formed` must have the shape and the dtype of the reference's all the same.
    `opaque` parts of results are not looked at.
    """

    profile: Profile
    steps: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    generators: list[int] = field(default_factory=list)
    callables: list[Callable[..., Any]] = field(default_factory=list)
    shared: list[Tree] = field(default_factory=list)
    ignored: set[int] = field(default_factory=set)
    formed: set[int] = field(default_factory=set)
    opaque: set[tuple[Any, ...]] = field(default_factory=set)
    exact: set[int] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)
    watched: dict[int, CallsHold] = field(default_factory=dict)
    dtypes: dict[tuple[Any, ...], frozenset[torch.dtype]] = field(default_factory=dict)
    properties: list[Callable[[list[Any]], Complaint | None]] = field(default_factory=list)
    gradient_properties: list[Callable[[list[Any], list[Tensor]], Complaint | None]] = field(default_factory=list)
    default_device: bool = False
    sizes: list[int] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    seed: int = 0
    label: str = ""

    @property
    def weight(self) -> tuple[int, int, int]:
        """How large it looks to a reader: elements, then steps, then the numbers drawn."""
        return sum(i.value.numel() for i in self.inputs), len(self.steps), sum(self.sizes)

    @property
    def differentiates(self) -> bool:
        """Whether the program runs a backward pass of its own, and so cannot do without autograd."""
        return any(step.get("name") == "backward" for step in self.steps)

    @property
    def tallies(self) -> bool:
        """Whether a step is repeated hundreds of times to count its results."""
        return any("times" in step for step in self.steps)

    def with_values(self, values: Sequence[Tensor]) -> Case:
        inputs = [replace(i, value=v) for v, i in zip(values, self.inputs, strict=True)]
        return replace(self, inputs=inputs)


class Handle:
    """Stands for the result of a recorded call; `handle[1]` or `handle["k"]` for a part of it."""

    def __init__(self, step: int, path: tuple[Any, ...] = ()) -> None:
        self.step = step
        self.path = path

    def __getitem__(self, key: Any) -> Handle:
        return Handle(self.step, (*self.path, key))

    def found_in(self, outcomes: Sequence[Any]) -> Any:
        """What it stands for, once the program has run."""
        value = outcomes[self.step]
        for key in self.path:
            value = value[key]
        return value

    def __iter__(self) -> Any:
        raise TypeError("a Handle has no length: take its parts by index, h[0], h[1]")


class Shared:
    """A mutable object that lives in the learner's process over the calls of one case."""

    def __init__(self, index: int) -> None:
        self.index = index


class Generator:
    """A `torch.Generator` made in the learner's process from a seed."""

    def __init__(self, index: int) -> None:
        self.index = index


class Here:
    """The device on which the program runs, as an argument."""

    def __init__(self, name: str) -> None:
        self.name = name


class Callback:
    """A callable that stays in the judge; the learner's code gets a proxy."""

    def __init__(self, index: int) -> None:
        self.index = index


# What a challenge declares in `inputs.py`: its public names in capitals, each one known.


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of one challenge; `attncli.domain.challenge` says what each means."""

    axes: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    lead: tuple[int, int] = (0, 3)
    sixteen_bits: str = "float32"
    large: float = 60.0
    offset: float = 100.0
    profiles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)
    tolerance_stable: Mapping[str, float] | None = None
    gradients: bool = True
    alias_allowed: Sequence[str] = ()
    views_of_state: Sequence[str] = ()
    without_graph: Sequence[str] = ()
    modules_unchanged: bool = False
    hardened: frozenset[str] | set[str] = frozenset()
    without_motifs: frozenset[str] | set[str] = frozenset()
    contracts: Sequence[Mapping[str, Any]] = ()

    def axes_of(self, name: str) -> list[str]:
        """The axes of an argument, `...` among them. JudgeFailed where none are declared."""
        if name not in self.axes:
            raise JudgeFailed(f'AXES says nothing of "{name}"; add it to inputs.py')
        return self.axes[name].split()

    def inputs_of(self, axis: str) -> frozenset[str]:
        """The axes that one follows from."""
        return _compiled(self.derived.get(axis, axis))[0] - {axis}

    def size_of(self, axis: str, drawn: Mapping[str, int]) -> int:
        """The size of an axis that follows from drawn ones: by DERIVED, or itself a sum or product."""
        return int(_compiled(self.derived.get(axis, axis))[1](drawn))


def facts_of(module: ModuleType, path: Path) -> Facts:
    """The facts that a loaded `inputs.py` declares. JudgeFailed, with place and guess, for one that is not known."""
    said = {name: value for name, value in vars(module).items() if name.isupper() and not name.startswith("_")}
    for name in said:
        if name not in FACTS:
            close = difflib.get_close_matches(name, FACTS, 1)
            guess = f"did you mean {close[0]}?" if close else "a constant of its own starts with an underscore"
            raise JudgeFailed(f"{path}:{_line(path, name)}: there is no fact {name}; {guess}")
    return Facts(**{name.lower(): value for name, value in said.items()})


@lru_cache(maxsize=1024)
def _compiled(says: str) -> tuple[frozenset[str], Callable[[Mapping[str, Number]], Number]]:
    return names_in(says), compile_expression(says)


def _line(path: Path, name: str) -> int:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    return min((node.lineno for node in targets), default=1)


# A turn: one recording of a challenge's `case`, with what is held fixed in it and how all else is chosen.

Style = Literal["as-written", "by-keyword", "by-position", "left-out"]
STYLES: tuple[Style, ...] = ("as-written", "by-keyword", "by-position", "left-out")
LEADS: tuple[tuple[int, ...], ...] = ((), (2,), (2, 3), (3, 1, 2), (2, 1, 3, 2), (2, 1, 3, 1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What motifs hold fixed. Turns of consecutive numbers take every branch of a `case` one after the other.

    `sizes` by axis; `every` for all others, as far as their range allows; `lead`: how many leading dimensions,
    or their sizes; `scores`, `mask`: which extreme, which shape; `empty_rows`: a mask hides whole rows; `same`:
    arguments of equal shape are one tensor.
    """

    number: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    every: int | None = None
    lead: int | tuple[int, ...] | None = None
    scores: str = ""
    mask: int | None = None
    empty_rows: bool = False
    style: Style = "as-written"
    same: bool = False

    def choose(self, kind: str, low: int, high: int, ordinal: int) -> int:
        """A choice in low … high: branches in turn, sizes large at first."""
        span = high - low + 1
        if kind in ("pick", "flag"):
            return low + (self.number + ordinal * (self.number // 2)) % span
        if kind == "seed":
            return low + self.number % span
        if self.number == 0:
            return high
        return low + zlib.crc32(bytes((self.number % 251, ordinal % 251))) % span

    def size(self, name: str, low: int, high: int, ordinal: int) -> int:
        if name in self.sizes:
            return self.sizes[name]
        if self.every is not None:
            return min(max(self.every, low), high)
        return self.choose("size", low, high, ordinal)


def in_turns(record: Callable[..., object], turns: Sequence[Turn]) -> Callable[..., None]:
    """Records `record` once for each turn, as one program."""

    def recorded(make: object) -> None:
        for turn in turns:
            make.begin(turn)  # type: ignore[attr-defined]
            record(make)

    return recorded


# The ways to write one call: arguments by position, by keyword, or left out where they are the default.

Arguments = tuple[Sequence[Any], Mapping[str, Any]]
_PLAIN_TYPES = (int, float, bool, str, type(None))


@lru_cache(maxsize=256)
def parameters_of(target: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """The parameters that may be given by position or by keyword; none where they cannot be known."""
    try:
        found = tuple(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return ()
    return found if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in found) else ()


def restyled(
    target: Callable[..., Any] | None, style: Style, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Arguments:
    """The same call in another style."""
    parameters = parameters_of(target) if target is not None else ()
    if style == "as-written" or len(args) > len(parameters):
        return args, kwargs
    named = {**dict(zip((p.name for p in parameters), args, strict=False)), **kwargs}
    if not named.keys() <= {p.name for p in parameters}:
        return args, kwargs
    if style == "left-out":
        defaults = {p.name: p.default for p in parameters}
        kept = [value for p, value in zip(parameters, args, strict=False) if not _is(value, p.default)]
        if len(kept) < len(args) and not all(_is(named[p.name], p.default) for p in parameters[len(kept) : len(args)]):
            kept = list(args)
        return kept, {name: value for name, value in kwargs.items() if not _is(value, defaults[name])}
    if style == "by-keyword":
        return (), named
    return _by_position(parameters, named)


def _by_position(parameters: Sequence[inspect.Parameter], named: Mapping[str, Any]) -> Arguments:
    last = max((k for k, p in enumerate(parameters) if p.name in named), default=-1)
    values = [named.get(p.name, p.default) for p in parameters[: last + 1]]
    if any(value is inspect.Parameter.empty for value in values):
        return (), named
    return values, {}


def _is(value: Any, default: Any) -> bool:
    return isinstance(value, _PLAIN_TYPES) and type(value) is type(default) and value == default


def one_tensor(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Arguments, bool]:
    """The same call with one tensor for all arguments of one shape and dtype; whether there were two."""
    first: dict[tuple[torch.Size, torch.dtype], Tensor] = {}
    merged = False

    def shared(value: Any) -> Any:
        nonlocal merged
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        known = first.setdefault((value.shape, value.dtype), value)
        merged = merged or known is not value
        return known

    return ([shared(value) for value in args], {name: shared(value) for name, value in kwargs.items()}), merged


# A case twice in one program, with other values in the memory of its tensors the second time.
#
# An answer that is remembered under the identity of an argument is out of date then.


def refilled(case: Case) -> Case | None:
    """The program of both rounds, of which the second counts; None where that proves nothing.

    Values that obey laws of their challenge are left as they are, and so are cases whose state goes on from call to
    call, which draw at random or ask a callable.
    """
    chosen = [k for k, item in enumerate(case.inputs) if _may_change(item)]
    compared = set(range(len(case.steps))) - case.ignored
    if not chosen or not compared or case.shared or case.generators or case.callables:
        return None
    count, first = len(case.inputs), len(case.steps) + 1
    values = [replace(case.inputs[k], value=_turned(case.inputs[k].value), grad=False) for k in chosen]
    into = ["l", [["t", k] for k in chosen]]
    given = ["l", [["t", count + k] for k in range(len(chosen))]]
    refill = {"op": "refill", "args": [into, given], "kwargs": {}}
    return Case(
        profile=case.profile,
        steps=[*case.steps, refill, *(_later(step, first) for step in case.steps)],
        inputs=[*case.inputs, *values],
        ignored={*range(first), *(first + k for k in case.ignored)},
        opaque={(first + path[0], *path[1:]) for path in case.opaque},
        exact={first + k for k in case.exact},
        dtypes={(first + path[0], *path[1:]): allowed for path, allowed in case.dtypes.items()},
        seed=case.seed,
        label=case.label,
    )


def _may_change(item: Input) -> bool:
    """Drawn numbers may come in another order; what was composed may obey laws, and booleans often do."""
    value = item.value
    return not item.composed and value.dtype != torch.bool and value.numel() > 1 and value.is_contiguous()


def _turned(value: Tensor) -> Tensor:
    """The other way round along the last dimension that is longer than 1."""
    return value.flip(max(k for k, size in enumerate(value.shape) if size > 1))


def _later(step: Mapping[str, Any], first: int) -> dict[str, Any]:
    """The step with the results that it refers to found behind those of the first round."""
    moved = dict(step)
    if "object" in step:
        moved["object"] = _shifted(step["object"], first)
    if "args" in step:
        moved["args"] = [_shifted(tree, first) for tree in step["args"]]
    if "kwargs" in step:
        moved["kwargs"] = {name: _shifted(tree, first) for name, tree in step["kwargs"].items()}
    return moved


def _shifted(tree: Any, first: int) -> Any:
    if tree[0] == "r":
        return ["r", tree[1] + first, *tree[2:]]
    if tree[0] in SEQUENCES:
        return [tree[0], [_shifted(item, first) for item in tree[1]]]
    if tree[0] == "d":
        return [tree[0], [[key, _shifted(item, first)] for key, item in tree[1]]]
    return tree
