"""A case of several calls as those alone that a fault needs: the failing call, and what it depends on.

A call depends on the results that it is given, and on every earlier step that touched the same result, shared value
or generator; behind a `manual_seed` each step draws from the state that the one before it left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from attncli.judge.answers.finding import CaseFinding, Examine
from attncli.judge.case import Case
from attncli.sandbox.values import SEQUENCES

# Where it is not known which call fails, so many are tried.
MOST_TRIED = 12


@dataclass(frozen=True, slots=True)
class Reduction:
    """A finding in the calls that it needs. `needs_all`: these alone are right, and only the whole program fails."""

    finding: CaseFinding
    inputs: Sequence[int]
    needs_all: bool = False

    def in_whole(self, whole: Case, values: Sequence[Tensor]) -> Case:
        """The whole program with `values`, which are those of the reduced one, in the places that they have there."""
        found = [item.value for item in whole.inputs]
        for k, value in zip(self.inputs, values, strict=True):
            found[k] = value
        return whole.with_values(found)


def reduced(finding: CaseFinding, examine: Examine) -> Reduction:
    """The finding with as few calls as show it; a fault for which all are needed stays as it is."""
    case = finding.case
    whole = Reduction(finding, range(len(case.inputs)))
    if len(case.steps) < 2 or finding.of_property or finding.fatal or case.gradient_properties:
        return whole
    known = failing_step(finding)
    if known is None and case.watched and finding.mismatch is None:
        return whole
    right = False
    for step in _suspects(case) if known is None else [known]:
        steps = needed(case, step)
        if len(steps) == len(case.steps):
            continue
        smaller, inputs = only(case, steps)
        found = examine(smaller)
        right = found is None
        if found is not None and found.fatal:
            return whole
        if found is not None and found.reason == finding.reason:
            return Reduction(found, inputs)
    return replace(whole, needs_all=known is not None and right)


def failing_step(finding: CaseFinding) -> int | None:
    """The step at which the answer is wrong, where the fault says so."""
    path = finding.mismatch.path if finding.mismatch is not None else ()
    return path[0] if path and isinstance(path[0], int) else None


def _suspects(case: Case) -> list[int]:
    """Steps that may have failed, those that are compared before those that only prepare them."""
    steps = range(len(case.steps))
    return sorted(steps, key=lambda k: (k in case.ignored, k))[:MOST_TRIED]


def needed(case: Case, step: int) -> list[int]:
    """The step and what it depends on, in their order."""
    chosen, touched = {step}, set(_touches(case, step))
    for k in reversed(range(step)):
        mine = set(_touches(case, k))
        if not touched.isdisjoint(mine) or _seeds(case, k, step):
            chosen.add(k)
            touched |= mine
    return sorted(chosen)


def _seeds(case: Case, step: int, last: int) -> bool:
    """Whether the step is the last `manual_seed` before `last`, or lies behind it."""
    seeds = [k for k in range(last) if case.steps[k]["op"] == "manual_seed"]
    return bool(seeds) and step >= seeds[-1]


def _touches(case: Case, step: int) -> Iterator[tuple[str, int]]:
    """What a step is given that earlier steps may have changed; its own result among it."""
    yield "r", step
    for tree in _trees(case.steps[step]):
        yield from _references(tree)


def _trees(step: Mapping[str, Any]) -> list[Any]:
    return [*([step["object"]] if "object" in step else []), *step.get("args", ()), *step.get("kwargs", {}).values()]


def _references(tree: Any) -> Iterator[tuple[str, int]]:
    if tree[0] in ("r", "m", "g"):
        yield tree[0], tree[1]
    for part in _parts(tree):
        yield from _references(part)


def _parts(tree: Any) -> list[Any]:
    if tree[0] in SEQUENCES:
        return list(tree[1])
    return [item for _, item in tree[1]] if tree[0] == "d" else []


def only(case: Case, steps: Sequence[int]) -> tuple[Case, list[int]]:
    """The case with these steps alone, which lack nothing, and the places that its inputs had."""
    trees = [tree for k in steps for tree in _trees(case.steps[k])]
    shared = sorted({k for tree in trees for k in _named(tree, "m")})
    inputs = sorted({k for tree in [*trees, *(case.shared[k] for k in shared)] for k in _named(tree, "t")})
    renumber = _Renumber({"r": steps, "m": shared, "t": inputs})
    place = {step: k for k, step in enumerate(steps)}
    smaller = replace(
        case,
        steps=[renumber.step(case.steps[k]) for k in steps],
        inputs=[case.inputs[k] for k in inputs],
        shared=[renumber.tree(case.shared[k]) for k in shared],
        ignored={place[k] for k in case.ignored if k in place},
        formed={place[k] for k in case.formed if k in place},
        opaque={(place[path[0]], *path[1:]) for path in case.opaque if path[0] in place},
        exact={place[k] for k in case.exact if k in place},
        dtypes={(place[path[0]], *path[1:]): allowed for path, allowed in case.dtypes.items() if path[0] in place},
        counted=set(),
        watched={},
        properties=[],
    )
    return smaller, inputs


def _named(tree: Any, tag: str) -> Iterator[int]:
    if tree[0] == tag:
        yield tree[1]
    for part in _parts(tree):
        yield from _named(part, tag)


class _Renumber:
    """Trees and steps with the numbers that results, shared values and inputs have where some are left out."""

    def __init__(self, kept: Mapping[str, Sequence[int]]) -> None:
        self._places = {tag: {old: new for new, old in enumerate(numbers)} for tag, numbers in kept.items()}

    def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        moved = dict(step)
        if "object" in step:
            moved["object"] = self.tree(step["object"])
        if "args" in step:
            moved["args"] = [self.tree(tree) for tree in step["args"]]
        if "kwargs" in step:
            moved["kwargs"] = {name: self.tree(tree) for name, tree in step["kwargs"].items()}
        if "leaves" in step:
            moved["leaves"] = {name: self._places["t"][k] for name, k in step["leaves"].items()}
        return moved

    def tree(self, tree: Any) -> Any:
        if tree[0] in self._places:
            return [tree[0], self._places[tree[0]][tree[1]], *tree[2:]]
        if tree[0] in SEQUENCES:
            return [tree[0], [self.tree(item) for item in tree[1]]]
        return ["d", [[key, self.tree(item)] for key, item in tree[1]]] if tree[0] == "d" else tree
