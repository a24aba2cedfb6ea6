"""A case: the program of calls that a challenge records, with the tensors it is called on.

Values are packed as trees (`["t", 3]` is the tensor `inputs[3]`), so that the same program runs in the judge and in the
worker. `Turn` has the choices that a motif fixes in one of its cases.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor

from attncli.domain.challenge import FACTS, Facts
from attncli.domain.checks import CHECKS
from attncli.errors import JudgeFailed
from attncli.i18n import _
from attncli.sandbox import devices
from attncli.sandbox.values import SEQUENCES, Tree

# A complaint of a property, in English and in Chinese.
Complaint = tuple[str, str]
# Takes the calls of a callable and the outcomes of the steps.
CallsHold = Callable[[list[Any], list[Any]], Complaint | None]


class DigitsLost(tuple[str, str]):
    """A complaint about float64 results that are right only to the digits of float32."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The dtype, amplitude, memory layout and device of a case.

    `gain` and `offset` act on drawn floating values; `layout` "strided" stores tensors transposed or spaced. `device`
    has the tensors while a program runs; they are drawn on the CPU, the same values for every device.
    """

    name: str
    dtype: torch.dtype = torch.float32
    gain: float = 1.0
    offset: float = 0.0
    layout: str = "contiguous"
    device: str = "cpu"


@dataclass(slots=True)
class Input:
    """One tensor of a case: `grad` asks for its gradient, `follow` lets the judge evaluate it in float64.

    `composed`: its values satisfy constraints of the challenge (rows of probabilities), so they are not simplified.
    """

    value: Tensor
    grad: bool
    follow: bool
    composed: bool = False


@dataclass(slots=True)
class Case:
    """A program and everything it needs; `sizes` are the numbers drawn for it, small ones first when shrinking.

    Results of the steps in `ignored` are not compared with the reference, except shape and dtype of those also in
    `formed`. `opaque` parts of results are not checked.
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
        """The size for shrinking: number of elements, then of steps, then the sum of the drawn numbers."""
        return sum(i.value.numel() for i in self.inputs), len(self.steps), sum(self.sizes)

    @property
    def tallies(self) -> bool:
        """True if a step is repeated hundreds of times to count its results."""
        return any("times" in step for step in self.steps)

    def with_values(self, values: Sequence[Tensor]) -> Case:
        inputs = [replace(i, value=v) for v, i in zip(values, self.inputs, strict=True)]
        return replace(self, inputs=inputs)

    def judged_at(self, places: Mapping[int, int]) -> dict[str, Any]:
        """Return the fields on judging results, with new numbers for the steps; steps without one are left out."""
        return {
            "ignored": {places[k] for k in self.ignored if k in places},
            "formed": {places[k] for k in self.formed if k in places},
            "opaque": {(places[path[0]], *path[1:]) for path in self.opaque if path[0] in places},
            "exact": {places[k] for k in self.exact if k in places},
            "dtypes": {(places[path[0]], *path[1:]): kinds for path, kinds in self.dtypes.items() if path[0] in places},
        }


# Trees in steps


def trees_of(step: Mapping[str, Any]) -> list[Tree]:
    """Return the trees of a step: its object and its arguments."""
    return [*([step["object"]] if "object" in step else []), *step.get("args", ()), *step.get("kwargs", {}).values()]


def parts_of(tree: Tree) -> Iterator[Tree]:
    """Yield a tree and all its parts."""
    yield tree
    for part in tree[1] if tree[0] in SEQUENCES else [item for _key, item in tree[1]] if tree[0] == "d" else ():
        yield from parts_of(part)


def with_parts(tree: Tree, change: Callable[[Tree], Tree | None]) -> Tree:
    """Return the tree with each part replaced by `change(part)`, unless that is None."""
    if (changed := change(tree)) is not None:
        return changed
    if tree[0] in SEQUENCES:
        return [tree[0], [with_parts(item, change) for item in tree[1]]]
    return ["d", [[key, with_parts(item, change)] for key, item in tree[1]]] if tree[0] == "d" else tree


def with_trees(step: Mapping[str, Any], change: Callable[[Tree], Tree | None]) -> dict[str, Any]:
    """Return the step with `with_parts` applied to its object and to every argument."""
    changed = dict(step)
    if "object" in step:
        changed["object"] = with_parts(step["object"], change)
    if "args" in step:
        changed["args"] = [with_parts(tree, change) for tree in step["args"]]
    if "kwargs" in step:
        changed["kwargs"] = {name: with_parts(tree, change) for name, tree in step["kwargs"].items()}
    return changed


# Arguments of recorded calls other than plain values


class Handle:
    """The result of a recorded call; `handle[1]` or `handle["k"]` is a part of it."""

    def __init__(self, step: int, path: tuple[Any, ...] = ()) -> None:
        self.step = step
        self.path = path

    def __getitem__(self, key: Any) -> Handle:
        return Handle(self.step, (*self.path, key))

    def found_in(self, outcomes: Sequence[Any]) -> Any:
        """Return the referenced value from the outcomes of a finished program."""
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


# Facts: the constants in capitals that a challenge declares in `inputs.py`


def facts_of(module: ModuleType, path: Path) -> Facts:
    """Return the facts that a loaded `inputs.py` declares. Raises JudgeFailed, with its line, for an unknown one."""
    declared = {name: value for name, value in vars(module).items() if name.isupper() and not name.startswith("_")}
    for name in declared:
        if name not in FACTS:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name]
            close = difflib.get_close_matches(name, FACTS, 1)
            guess = f"did you mean {close[0]}?" if close else "a constant of its own starts with an underscore"
            raise JudgeFailed(
                _(
                    "{path}:{lines}: there is no fact {name}; {guess}",
                    path=path,
                    lines=min(lines, default=1),
                    name=name,
                    guess=guess,
                )
            )
    return Facts(**{name.lower(): value for name, value in declared.items()})


# Profiles

# The profile that tries another device: device arguments name that one here, and the CPU in other profiles.
ANOTHER_DEVICE = "meta"
_PROFILES: dict[str, Profile] = {
    "ordinary": Profile("ordinary"),
    "float64": Profile("float64", torch.float64),
    "bf16": Profile("bf16", torch.bfloat16),
    "fp16": Profile("fp16", torch.float16),
    "strided": Profile("strided", layout="strided"),
    "meta": Profile("meta", device="meta"),
}


def profile_of(name: str, facts: Facts) -> Profile:
    """Return the profile of that name; a challenge sets its own amplitudes with LARGE and OFFSET."""
    if name == "large":
        return Profile("large", gain=float(facts.large))
    if name == "offset":
        return Profile("offset", offset=float(facts.offset))
    return _PROFILES[name]


def graded_on(profile: Profile, device: str) -> Profile:
    """Return the profile on the device of the grading, which the check of devices uses too."""
    return replace(profile, device=device) if device in devices.AWAY else profile


def strata(check: str, facts: Facts, device: str = devices.CPU) -> tuple[Profile, ...]:
    """Return the profiles that a check draws from, one run each."""
    names = facts.profiles.get(check, CHECKS[check].strata)
    return tuple(graded_on(profile_of(name, facts), device) for name in names)


def relayout(tensor: Tensor, turn: int) -> Tensor:
    """Return the same values in another memory layout, which `turn` chooses.

    The layout is transposed, that of heads cut out of a projection, or every second element of longer rows. These rows
    have 2n + 1 elements, so that no two dimensions can be merged without a copy.
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


# Turns: the recordings of a challenge's `case` that make up a motif

Style = Literal["as-written", "by-keyword", "by-position", "left-out"]
STYLES: tuple[Style, ...] = ("as-written", "by-keyword", "by-position", "left-out")
LEADS: tuple[tuple[int, ...], ...] = ((), (2,), (2, 3), (3, 1, 2), (2, 1, 3, 2), (2, 1, 3, 1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One recording of a `case`. Turns with consecutive numbers take its branches one after the other.

    It fixes: `sizes` by axis; `every` other size, within its range; `lead`, the number of leading dimensions, or their
    sizes; `scores`, the extreme; `mask`, the index of its shape; `empty_rows`: a mask hides whole rows; `same`:
    arguments of equal shape are one tensor; `style`: the way of writing calls.
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
        """Choose a number in low … high: branches in turn, the largest size first."""
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
    """Return a function that records `record` once for each turn, as one program."""

    def recorded(make: Any) -> None:
        for turn in turns:
            make.begin(turn)
            record(make)

    return recorded


# Styles: one call with arguments by position, by keyword, or left out where they are the default

Arguments = tuple[Sequence[Any], Mapping[str, Any]]


@lru_cache(maxsize=256)
def parameters_of(target: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Return the parameters if all may be given by position or keyword; otherwise, or if unknown, none."""
    try:
        found = tuple(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return ()
    return found if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in found) else ()


def restyled(
    target: Callable[..., Any] | None, style: Style, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Arguments:
    """Return the same call in another style."""
    parameters = parameters_of(target) if target is not None else ()
    if style == "as-written" or len(args) > len(parameters):
        return args, kwargs
    named = {**dict(zip((p.name for p in parameters), args, strict=False)), **kwargs}
    if not named.keys() <= {p.name for p in parameters}:
        return args, kwargs
    if style == "left-out":
        defaults = {p.name: p.default for p in parameters}
        default = [_is_default(value, p.default) for p, value in zip(parameters, args, strict=False)]
        count = default.count(False)
        kept = args[:count] if all(default[count:]) else args  # only the last ones can be left out
        return kept, {name: value for name, value in kwargs.items() if not _is_default(value, defaults[name])}
    if style == "by-keyword":
        return (), named
    last = max((k for k, p in enumerate(parameters) if p.name in named), default=-1)
    values = [named.get(p.name, p.default) for p in parameters[: last + 1]]
    return ((), named) if any(value is inspect.Parameter.empty for value in values) else (values, {})


def _is_default(value: Any, default: Any) -> bool:
    plain = isinstance(value, (int, float, bool, str, type(None)))
    return plain and type(value) is type(default) and bool(value == default)


def one_tensor(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Arguments, bool]:
    """Use one tensor for all arguments of equal shape and dtype. Returns the call, and True if any changed."""
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


# A case twice in one program


def refilled(case: Case) -> Case | None:
    """Return a program that runs the case twice, with other values in the memory of its tensors the second time.

    The second round counts: an answer cached by the identity of an argument is stale then. Composed values stay as they
    are. Returns None if nothing can be proved: if state persists between calls, or the case draws at random or calls a
    callable.
    """
    # Composed values may satisfy constraints; booleans often do.
    chosen = [
        k
        for k, item in enumerate(case.inputs)
        if not item.composed and item.value.dtype != torch.bool and item.value.numel() > 1
        if item.value.is_contiguous()
    ]
    compared = set(range(len(case.steps))) - case.ignored
    if not chosen or not compared or case.shared or case.generators or case.callables:
        return None
    count, first = len(case.inputs), len(case.steps) + 1
    values = [replace(case.inputs[k], value=_reversed(case.inputs[k].value), grad=False) for k in chosen]
    into = ["l", [["t", k] for k in chosen]]
    given = ["l", [["t", count + k] for k in range(len(chosen))]]
    refill = {"op": "refill", "args": [into, given], "kwargs": {}}
    judged = case.judged_at({k: first + k for k in range(len(case.steps))})

    def later(tree: Tree) -> Tree | None:
        return ["r", tree[1] + first, *tree[2:]] if tree[0] == "r" else None

    return Case(
        profile=case.profile,
        steps=[*case.steps, refill, *(with_trees(step, later) for step in case.steps)],
        inputs=[*case.inputs, *values],
        **{**judged, "ignored": judged["ignored"] | {*range(first)}, "formed": set()},
        seed=case.seed,
        label=case.label,
    )


def _reversed(value: Tensor) -> Tensor:
    """Return the values in reverse along the last dimension that is longer than 1."""
    return value.flip(max(k for k, size in enumerate(value.shape) if size > 1))
