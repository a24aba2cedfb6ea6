"""Check the axis names of challenges: they fit every tensor, and one letter is one size within a call."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml
from torch import Tensor

from attncli.judge.case import Case, profile_of
from attncli.judge.challenge import Folder, edge_functions, named_arguments
from attncli.judge.compare import leaves
from attncli.judge.drawing import fixed_draw
from attncli.judge.exam import drawn
from attncli.judge.make import Recorder
from attncli.judge.reference import as_given, run_reference

from .conftest import IMPL, sampled

FOLDERS = sorted(path.parent for path in IMPL.glob("*/*/reference.py"))
# Tensors of any shape, or none at all.
ANY_SHAPE = """adam adamw bf16-round bpe-train-encode clip-grad-norm cosine-warmup int8-quant lion lora-plus loss-scaler
online-softmax softmax-stable stochastic-rounding t5-relative-bias""".split()
MASKS = ("mask", "argument ")  # by name, or behind the first of any number of masks
DRAWN = 12


@dataclass(frozen=True)
class Part:
    """A tensor or an integer that a call takes or returns, with its name."""

    function: str
    place: str
    value: Any


@dataclass(frozen=True)
class Call:
    """One step of a case: arguments, results and state set earlier; `of_entry` is True for calls of the entry."""

    case: str
    function: str
    of_entry: bool
    parts: list[Part]


@cache
def folder_at(path: Path) -> Folder:
    return Folder(yaml.safe_load((path / "challenge.yaml").read_text(encoding="utf-8")), path)


@cache
def calls_of(path: Path) -> list[Call]:
    """Return all calls of the edge cases and of some drawn ones, with the reference's results."""
    folder = folder_at(path)
    return [call for case in cases(folder) for call in calls(folder, case)]


def cases(folder: Folder) -> Iterator[Case]:
    ordinary = profile_of("ordinary", folder.facts)
    yield from drawn(folder.inputs.case, ordinary, DRAWN, 0, 0, folder.declared)
    for label, _, record in edge_functions(folder):
        recorder = Recorder(fixed_draw, ordinary, 0, label, folder.declared)
        record(recorder)
        yield recorder.case


def calls(folder: Folder, case: Case) -> Iterator[Call]:
    outcomes = run_reference(folder.reference, case, as_given).outcomes
    weights: dict[str, list[Part]] = {}
    for step, outcome in zip(case.steps, outcomes, strict=True):
        function, owner = str(step.get("name", "")), str(step.get("object"))
        taken = [(name, value(tree, case, outcomes)) for name, tree in named_arguments(folder.reference, step)]
        parts = [
            Part(function, root + "".join(f"[{key!r}]" for key in path), leaf)
            for root, whole in [*taken, ("return", outcome)]
            for path, leaf in leaves(whole)
        ]
        if step["op"] == "set":
            weights[owner] = parts
        yield Call(case.label or "a drawn case", function, of_entry(folder, step), [*parts, *weights.get(owner, ())])


def value(tree: Any, case: Case, outcomes: list[Any]) -> Any:
    """Return an argument's value; results of earlier calls are looked up."""
    if tree[0] == "t":
        return case.inputs[tree[1]].value
    if tree[0] == "r":
        found = outcomes[tree[1]]
        for key in tree[2]:
            found = found[key]
        return found
    if tree[0] in ("l", "u"):
        return [value(item, case, outcomes) for item in tree[1]]
    if tree[0] == "d":
        return {key[1]: value(item, case, outcomes) for key, item in tree[1]}
    return tree[1] if tree[0] == "i" else None


def of_entry(folder: Folder, step: dict[str, Any]) -> bool:
    if step["op"] == "method":
        return any(step["name"] in vars(folder.reference[name]) for name in folder.entry)
    return bool(step["op"] == "call" and step["name"] in folder.entry)


def spec(path: Path, part: Part) -> str | None:
    """Return the challenge's axes for this part, looked up as by the judge."""
    said = vars(folder_at(path).inputs).get("AXES", {})
    found = said.get(f"{part.function}.{part.place}", said.get(part.place))
    return None if found is None else str(found)


def sizes(path: Path, call: Call) -> Iterator[tuple[str, str, int]]:
    """Yield (axis name, place, size); an integer passed under an axis name is its size, too."""
    axes = {name for said in vars(folder_at(path).inputs).get("AXES", {}).values() for name in said.split()}
    for part in call.parts:
        if isinstance(part.value, Tensor):
            names = folder_at(path).axes(part.function, part.place, part.value.dim())
            for name, size in zip(names, part.value.shape, strict=False):
                if name and not (part.place.startswith(MASKS) and size == 1):  # where a mask broadcasts
                    yield name, part.place, size
        elif type(part.value) is int and part.place in axes:
            yield part.place, "the number", part.value


def sizes_by_name(path: Path, call: Call) -> dict[str, int]:
    return {name: size for name, _, size in sizes(path, call)}


def worth(name: str, found: Mapping[str, int]) -> int | None:
    """Return the value of `t+1`, `3D` or `H·d_v` for the sizes of a call, or None if one of them is unknown."""
    terms = [re.findall(r"\d+|[^\d·]+", term) for term in name.split("+")]
    if not all(factor.isdigit() or factor in found for factors in terms for factor in factors):
        return None
    return sum(math.prod(int(f) if f.isdigit() else found[f] for f in factors) for factors in terms)


def _what_is_said_of_a_tensor_fits_its_dimensions(path: Path) -> None:
    folder = folder_at(path)
    for call in calls_of(path):
        for part in call.parts:
            said = spec(path, part)
            if said is not None and isinstance(part.value, Tensor):
                names = folder.axes(part.function, part.place, part.value.dim())
                known = len(names) == part.value.dim() and (any(names) or said == "...")
                assert known, (call.case, part.place, part.value.shape, said)


def _within_a_call_one_name_is_one_size(path: Path) -> None:
    for call in calls_of(path):
        found: dict[str, tuple[str, int]] = {}
        for name, place, size in sizes(path, call):
            first, due = found.setdefault(name, (place, size))
            assert size == due, f"{call.case}: {name} is {due} in {first} and {size} in {place}"


def _a_name_that_is_a_sum_or_a_product_has_its_size(path: Path) -> None:
    for call in calls_of(path):
        found = sizes_by_name(path, call)
        for name, size in found.items():
            assert worth(name, found) in (None, size), (call.case, name, found)


def _no_axis_has_two_names(path: Path) -> None:
    met: dict[tuple[str, str, str], bool] = {}
    for call in (call for call in calls_of(path) if call.of_entry):
        found = sorted(sizes_by_name(path, call).items())
        for (one, size), (other, other_size) in combinations(found, 2):
            pair = call.function, one, other
            met[pair] = met.get(pair, False) or size != other_size
    assert not [pair for pair, differ in met.items() if not differ], "these are of one size in every call"


def _every_name_that_is_told_is_that_of_a_tensor(path: Path) -> None:
    seen = {
        name
        for call in calls_of(path)
        for part in call.parts
        if isinstance(part.value, Tensor)
        for name in (f"{part.function}.{part.place}", part.place)
    }
    assert vars(folder_at(path).inputs).get("AXES", {}).keys() <= seen


def _every_tensor_of_an_entry_point_has_named_axes(path: Path) -> None:
    if path.name in ANY_SHAPE:
        assert "AXES" not in vars(folder_at(path).inputs)
        return
    parts = [part for call in calls_of(path) if call.of_entry for part in call.parts]
    tensors = [part for part in parts if isinstance(part.value, Tensor) and part.value.dim() > 0]
    assert not {f"{part.function}.{part.place}" for part in tensors if spec(path, part) is None}


@sampled(FOLDERS, 2)
def test_the_named_axes_are_those_of_the_tensors(path: Path) -> None:
    _what_is_said_of_a_tensor_fits_its_dimensions(path)
    _within_a_call_one_name_is_one_size(path)
    _a_name_that_is_a_sum_or_a_product_has_its_size(path)
    _no_axis_has_two_names(path)
    _every_name_that_is_told_is_that_of_a_tensor(path)
    _every_tensor_of_an_entry_point_has_named_axes(path)
