"""Probes: cases that were put to a submission, to be put to other code as well, and whether two answers agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from attncli.judge.answers.request import Request
from attncli.judge.case import Case
from attncli.judge.compare import Rules, compare
from attncli.judge.guard import alone
from attncli.judge.reference import Observed, as_given, run_reference
from attncli.judge.truth.expectation import Expectation
from attncli.judge.truth.gradients import largest
from attncli.judge.truth.tolerance import SAME_GRADIENT
from attncli.sandbox.limits import memory_at_most
from attncli.sandbox.values import Raised

# What a wrong solution may take here, in the judge's own process: one that holds a square of the length in memory
# meets cases that were made long to catch others.
MEMORY_MIB = 1024
Kind = Literal["drawn", "again", "edge"]
# A random answer is compared under so many further states of the generators.
RANDOM_STATES = 2


@dataclass(frozen=True)
class Probe:
    """A case as it was put to the submission, its answer (None where it failed), and the expected one.

    `kind`: "drawn" is the failing case or a drawn one of its kind, "again" the failing case under another random state,
    "edge" another edge case.
    """

    request: Request
    observed: Observed | None
    due: Expectation
    kind: Kind = "drawn"

    def on(self, namespace: Mapping[str, Any]) -> Observed:
        """Run other code on the case, gradients included where they were asked for."""
        case, cotangents = self.request.case, None
        if "gradients" in self.request.want:
            cotangents = self.request.cotangents
        leaves = self.request.leaves
        return run_reference(namespace, case, as_given, leaf_indices=leaves, cotangents=cotangents, as_in_worker=True)


def other_random_states(case: Case) -> list[Case]:
    """Return the case under other states of its generators and of torch's global one; none if it seeds that itself."""
    if any(step["op"] == "manual_seed" for step in case.steps):
        return []
    moves = [1000 * (turn + 1) for turn in range(RANDOM_STATES)]
    return [replace(case, seed=case.seed + k, generators=[seed + k for seed in case.generators]) for k in moves]


@alone
def answers_of(probes: Sequence[Probe], namespace: Mapping[str, Any]) -> list[Observed | None]:
    """Return what the program's own code answers, within the memory that it may take here; None where it fails."""
    with memory_at_most(MEMORY_MIB):
        return [_answer_of(probe, namespace) for probe in probes]


def _answer_of(probe: Probe, namespace: Mapping[str, Any]) -> Observed | None:
    try:
        return probe.on(namespace)
    except Exception:  # noqa: BLE001 - a mistake may fail in any way
        return None


def same_answers(probe: Probe, first: Observed, second: Observed, float32_inside: bool) -> bool:
    """Tell whether two answers to a probe agree, within the tolerance of its case."""
    case = probe.request.case
    before, after = first.parts(case, watched=True), second.parts(case, watched=True)
    for key, value in before.items():
        slack = lambda path, key=key: probe.due.slack((key, *path))  # noqa: E731
        rules = Rules(slack, {}, exact=key in case.exact, float32_inside=float32_inside)
        if key not in after or _differ(value, after[key], rules):
            return False
    pairs = zip(first.gradients, second.gradients, strict=True)
    return not any(_differ(a, b, Rules(lambda path: None, {}, True, largest(a) * SAME_GRADIENT)) for a, b in pairs)


def _differ(value: Any, other: Any, rules: Rules) -> bool:
    if isinstance(value, Raised):
        return not isinstance(other, Raised) or other.names[0] != value.names[0]
    return compare(value, value, other, rules) is not None
