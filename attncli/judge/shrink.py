"""Find a small counterexample: Hypothesis draws and shrinks cases, then calls are removed and values simplified.

A program of several calls is reduced to the failing call and those that it depends on: every earlier step that touched
the same result, shared value or generator. After a `manual_seed` each step draws from the state that the previous one
left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import hypothesis.internal.conjecture.providers as providers
import torch
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as pinned
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from torch import Tensor

from attncli.judge.case import Case, Profile, parts_of, trees_of, with_parts, with_trees
from attncli.judge.drawing import Declared, Draw
from attncli.judge.make import Recorder
from attncli.judge.submission import Examine, FailedCase
from attncli.sandbox.values import Tree

SHRINK_CALLS = 120
SIMPLIFY_CALLS = 80
# If the failing call is not known, this many are tried.
MOST_TRIED = 12
# Hundreds of steps take seconds per call, and nobody reads their numbers one by one.
MOST_STEPS_SIMPLIFIED = 200
# Larger tensors are not simplified entry by entry.
FEW_ENTRIES = 12

CaseFunction = Callable[[Recorder], Any]


# Keep Hypothesis from seeding its draws with constants of loaded source files, on which no stream may depend.
_NO_CONSTANTS = providers.Constants()  # type: ignore[attr-defined]
providers._get_local_constants = lambda: _NO_CONSTANTS


# Drawing and shrinking cases


class _Failed(Exception):
    """An example that fails."""


class Search:
    """One stratum of one check: draws cases and keeps the smallest that fails.

    Shrinking tries at most `shrink_calls` cases; 0 turns it off.
    """

    def __init__(
        self, record: CaseFunction, profile: Profile, *, stream: int, shrink_calls: int, declared: Declared
    ) -> None:
        self._record = record
        self._profile = profile
        self._stream = stream
        self._shrink_calls = shrink_calls
        self._declared = declared
        self.best: FailedCase | None = None
        self._examples = 0
        self._after_failure = 0

    def run(self, examine: Examine, examples: int, seed: int, passing: int = 0) -> FailedCase | None:
        """Return the smallest failed one of `examples` cases, or None. The same seed gives the same cases everywhere.

        The first `passing` cases are known to pass and are not examined again.
        """
        phases = [Phase.generate, Phase.shrink] if self._shrink_calls else [Phase.generate]
        decorate = settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
        )

        def body(data: st.DataObject) -> None:
            self._one(data, examine, passing)

        try:
            pinned(seed)(decorate(given(st.data())(body)))()
        except (_Failed, HypothesisException, ExceptionGroup):
            if self.best is None:
                raise
        return self.best

    def _one(self, data: st.DataObject, examine: Examine, passing: int) -> None:
        """Draw and examine one case. Raises _Failed if it fails."""
        if self.best is not None and (self.best.fatal or self._after_failure >= self._shrink_calls):
            return
        choices: Any = data.conjecture_data
        # The draws of `st.integers` without a strategy around each: a third of the time of a small example.
        draw: Draw = lambda kind, low, high: int(choices.draw_integer(low, high)) if low < high else low  # noqa: E731
        recorder = Recorder(draw, self._profile, self._stream, declared=self._declared)
        self._record(recorder)
        if self.best is None:
            self._examples += 1
        else:
            self._after_failure += 1
        passes = self.best is None and self._examples <= passing
        finding = None if passes else examine(recorder.case)
        if finding is None:
            return
        if self.best is None or finding.case.weight <= self.best.case.weight:
            self.best = finding
        raise _Failed


# Removing calls


@dataclass(frozen=True, slots=True)
class Reduction:
    """A failed case with the calls that it needs. `inputs` are the places of its inputs in the whole case.

    `needs_all`: the failing call passes with these calls alone, and only the whole program fails.
    """

    finding: FailedCase
    inputs: Sequence[int]
    needs_all: bool = False

    def in_whole(self, whole: Case, values: Sequence[Tensor]) -> Case:
        """Return the whole program with `values` in place of the inputs of the reduced one."""
        tensors = [item.value for item in whole.inputs]
        for k, value in zip(self.inputs, values, strict=True):
            tensors[k] = value
        return whole.with_values(tensors)


def reduced(finding: FailedCase, examine: Examine) -> Reduction:
    """Return the failed case with as few calls as still fail; unchanged if all are needed."""
    case = finding.case
    whole = Reduction(finding, range(len(case.inputs)))
    if len(case.steps) < 2 or finding.of_property or finding.fatal or case.gradient_properties:
        return whole
    known = failing_step(finding)
    if known is None and case.watched and finding.mismatch is None:
        return whole
    passes = False
    # Steps that are compared are suspected before those that only prepare them.
    suspects = sorted(range(len(case.steps)), key=lambda k: (k in case.ignored, k))[:MOST_TRIED]
    for step in suspects if known is None else [known]:
        steps = needed(case, step)
        if len(steps) == len(case.steps):
            continue
        smaller, inputs = only(case, steps)
        found = examine(smaller)
        passes = found is None
        if found is not None and found.fatal:
            return whole
        if found is not None and found.reason == finding.reason:
            return Reduction(found, inputs)
    return replace(whole, needs_all=known is not None and passes)


def failing_step(finding: FailedCase) -> int | None:
    """Return the step whose result is wrong, None if the failed case does not name one."""
    path = finding.mismatch.path if finding.mismatch is not None else ()
    return path[0] if path and isinstance(path[0], int) else None


def needed(case: Case, step: int) -> list[int]:
    """Return the step and those that it depends on, in order."""
    chosen, touched = {step}, set(_touches(case, step))
    seeds = [k for k in range(step) if case.steps[k]["op"] == "manual_seed"]
    for k in reversed(range(step)):
        mine = set(_touches(case, k))
        if not touched.isdisjoint(mine) or (seeds and k >= seeds[-1]):
            chosen.add(k)
            touched |= mine
    return sorted(chosen)


def _touches(case: Case, step: int) -> Iterator[tuple[str, int]]:
    """Yield the step's own result, and the results, shared values and generators that it takes."""
    yield "r", step
    for tree in trees_of(case.steps[step]):
        for part in parts_of(tree):
            if part[0] in ("r", "m", "g"):
                yield part[0], part[1]


def only(case: Case, steps: Sequence[int]) -> tuple[Case, list[int]]:
    """Return the case with only these steps, and the old places of its inputs. `steps` includes their dependencies."""
    parts = [part for k in steps for tree in trees_of(case.steps[k]) for part in parts_of(tree)]
    shared = sorted({part[1] for part in parts if part[0] == "m"})
    parts += [part for k in shared for part in parts_of(case.shared[k])]
    inputs = sorted({part[1] for part in parts if part[0] == "t"})
    places = {tag: {k: n for n, k in enumerate(kept)} for tag, kept in (("r", steps), ("m", shared), ("t", inputs))}

    def renumbered(tree: Tree) -> Tree | None:
        return [tree[0], places[tree[0]][tree[1]], *tree[2:]] if tree[0] in places else None

    kept = [with_trees(case.steps[k], renumbered) for k in steps]
    for step in kept:
        if "leaves" in step:
            step["leaves"] = {name: places["t"][k] for name, k in step["leaves"].items()}
    smaller = replace(
        case,
        steps=kept,
        inputs=[case.inputs[k] for k in inputs],
        shared=[with_parts(case.shared[k], renumbered) for k in shared],
        **case.judged_at(places["r"]),
        counted=set(),
        watched={},
        properties=[],
    )
    return smaller, inputs


# Simplifying values


def simplify(finding: FailedCase, examine: Examine) -> FailedCase:
    """Return the failed case with zeros, ones and whole numbers wherever it still fails for the same reason.

    Tries at most `SIMPLIFY_CALLS` cases.
    """
    trials = _Trials(finding, examine, SIMPLIFY_CALLS if len(finding.case.steps) <= MOST_STEPS_SIMPLIFIED else 0)
    for index, item in enumerate(finding.case.inputs):
        if item.composed:
            continue
        for candidate in _candidates(item.value):
            if trials.calls <= 0 or torch.equal(trials.value(index), candidate) or trials.takes(index, candidate):
                break
    for index, item in enumerate(finding.case.inputs):
        if not item.composed and item.value.is_floating_point() and item.value.numel() <= FEW_ENTRIES:
            _simplify_entries(trials, index)
    return trials.best


@dataclass(slots=True)
class _Trials:
    """The simplest failed case so far, and the number of calls left: none after a fatal failure."""

    best: FailedCase
    examine: Examine
    calls: int

    def value(self, index: int) -> Tensor:
        return self.best.case.inputs[index].value

    def takes(self, index: int, candidate: Tensor) -> bool:
        """Try `candidate` as an input and keep it if the case fails for the same reason. Returns True if it does."""
        values = [item.value for item in self.best.case.inputs]
        values[index] = candidate
        self.calls -= 1
        simpler = self.examine(self.best.case.with_values(values))
        if simpler is not None and simpler.fatal:
            self.calls = 0
        elif simpler is not None and simpler.reason == self.best.reason:
            self.best = simpler
            return True
        return False


def _candidates(value: Tensor) -> Iterator[Tensor]:
    """Yield simpler values, the plainest first. Integer tensors keep their values: they may be indices."""
    if value.dtype is torch.bool:
        yield torch.ones_like(value)
    elif value.is_floating_point():
        yield torch.zeros_like(value)
        yield torch.ones_like(value)
        yield (value > 0).to(value.dtype)
        yield value.round()
        yield (value * 10).round() / 10


def _simplify_entries(trials: _Trials, index: int) -> None:
    """Try 0, then 1, for each entry."""
    for place in range(trials.value(index).numel()):
        for plain in (0.0, 1.0):
            current = trials.value(index)
            if trials.calls <= 0 or current.reshape(-1)[place] == plain:
                break
            changed = current.contiguous().clone()
            changed.view(-1)[place] = plain
            if trials.takes(index, changed):
                break
