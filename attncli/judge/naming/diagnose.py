"""Naming the mistake: which known wrong solution gives the very outputs that the submission gave.

A name is given only when the outputs prove it: the wrong solution must agree with the submission on every probed case,
the failing ones among them, within the tolerance of the case. Where none does, two of them may (see pairs.py), or the
answers have a pattern in common (see patterns.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attncli.domain.grade_report import Diagnosis
from attncli.judge.answer_guard import alone
from attncli.judge.answers.request import Request
from attncli.judge.cases.trusted_files import Folder
from attncli.judge.naming.pairs import Answer, pairs_of
from attncli.judge.naming.patterns import pattern_of
from attncli.judge.naming.roundings import rounding_of
from attncli.judge.naming.samples import Sample, samples, subject, wrong_parts
from attncli.judge.sentences import say
from attncli.judge.truth.compare import Rules, compare
from attncli.judge.truth.demands import Demands
from attncli.judge.truth.expectation import Expectation
from attncli.judge.truth.gradients import largest
from attncli.judge.truth.reference import Observed, as_given, run_reference
from attncli.judge.truth.tolerance import SAME_GRADIENT
from attncli.sandbox.limits import memory_at_most
from attncli.sandbox.values import Raised

# What a wrong solution may take here, in the judge's own process: one that holds a square of the length in memory
# meets cases that were made long to catch others.
MEMORY_MIB = 1024


@dataclass(frozen=True)
class Probe:
    """A case as it was put to the submission, what came of it, and what is due."""

    request: Request
    observed: Observed
    due: Expectation

    def on(self, namespace: Mapping[str, Any]) -> Observed:
        """What other code makes of it, gradients included where they were asked for."""
        case = self.request.case
        if "gradients" not in self.request.want:
            return run_reference(namespace, case, as_given)
        leaves, cotangents = self.request.leaves, self.request.cotangents
        return run_reference(namespace, case, as_given, leaf_indices=leaves, cotangents=cotangents)


def diagnose(folder: Folder, probes: Sequence[Probe], among: Sequence[str] = ()) -> list[Diagnosis]:
    """The wrong solutions that agree with what the submission returned on every probe, or else two that do so together,
    or what the answers have in common; [] without a proof. `among`: those of these names alone."""
    if not probes:
        return []
    tried = _Tried(folder, probes)
    matching = [name for name in among or folder.wrong_names() if tried.agrees(name)]
    if matching or among:
        return [_named(folder, name) for name in matching]
    pairs = pairs_of(tried.answers, folder.wrong_names(), tried.outcome)
    if len(pairs) == 1:
        first, second = pairs[0]
        return [replace(_named(folder, first), beside=second), replace(_named(folder, second), beside=first)]
    return _in_common(Demands(folder), probes)


class _Tried:
    """What the reference and each wrong solution make of the probes, in the dtypes of their inputs."""

    def __init__(self, folder: Folder, probes: Sequence[Probe]) -> None:
        self._folder, self._probes = folder, probes
        self._float32_inside = Demands(folder).float32_inside
        self._outcomes: dict[tuple[str, int], Observed | None] = {}
        native = [alone(probe.on)(folder.reference.__dict__) for probe in probes]
        pairs = zip(probes, native, strict=True)
        self.answers = [Answer(probe.request.case, probe.due, probe.observed, sound) for probe, sound in pairs]

    def outcome(self, name: str, k: int) -> Observed | None:
        """What a wrong solution gives for the k-th probe; None where it fails."""
        if (name, k) not in self._outcomes:
            try:
                self._outcomes[name, k] = bounded(self._probes[k], self._folder.wrong(name).__dict__)
            except Exception:  # noqa: BLE001 - it may fail in any way; then its outputs prove nothing
                self._outcomes[name, k] = None
        return self._outcomes[name, k]

    def agrees(self, name: str) -> bool:
        differs = False
        for k, probe in enumerate(self._probes):
            other = self.outcome(name, k)
            if other is None or not same_answers(probe, probe.observed, other, self._float32_inside):
                return False
            differs = differs or not same_answers(probe, self.answers[k].sound, other, self._float32_inside)
        return differs


def _in_common(demands: Demands, probes: Sequence[Probe]) -> list[Diagnosis]:
    found: list[Sample] = []
    for probe in probes:
        of_probe = samples(probe.request.case, probe.observed, probe.due, demands)
        if of_probe is None:
            return []
        found += of_probe
    wrong = wrong_parts(found)
    what = subject(wrong, found) if wrong else say("the-result")
    pattern = pattern_of(wrong, what) or rounding_of(wrong, what, demands)
    return [Diagnosis(pattern[0], pattern[1].en, (), pattern[1].zh)] if pattern else []


@alone
def bounded(probe: Probe, namespace: Mapping[str, Any]) -> Observed:
    """What the program's own code makes of a probe, within the memory that it may take here."""
    with memory_at_most(MEMORY_MIB):
        return probe.on(namespace)


def same_answers(probe: Probe, first: Observed, second: Observed, float32_inside: bool) -> bool:
    """Whether two answers to a probe agree, within the tolerance of its case."""
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


def _named(folder: Folder, name: str) -> Diagnosis:
    mistake = folder.mistake(name)
    return Diagnosis(name, mistake.says.en or name, mistake.cards or tuple(folder.spec.get("cards") or ()))
