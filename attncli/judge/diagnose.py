"""Naming the mistake: which known wrong solution gives the very outputs that the submission gave.

A name is given only when the outputs prove it: the wrong solution must agree with the submission on every probed case,
the failing ones among them, within the tolerance of the case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.domain.challenge import Diagnosis
from attncli.judge.compare import Rules, compare
from attncli.judge.demands import Demands
from attncli.judge.expected import Expectation, Observed, as_given, run_reference
from attncli.judge.folder import Folder
from attncli.judge.gradients import largest
from attncli.judge.judging import alone
from attncli.judge.request import Request
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


def diagnose(folder: Folder, probes: Sequence[Probe]) -> list[Diagnosis]:
    """The wrong solutions that agree with what the submission returned on every probe; [] without a proof."""
    if not probes:
        return []
    native = [alone(probe.on)(folder.reference.__dict__) for probe in probes]
    matching = [name for name in folder.wrong_names() if _agrees(folder, name, probes, native)]
    return [_named(folder, name) for name in matching]


def _agrees(folder: Folder, name: str, probes: Sequence[Probe], native: Sequence[Observed]) -> bool:
    namespace, float32_inside = folder.wrong(name).__dict__, Demands(folder).float32_inside
    differs = False
    for probe, sound in zip(probes, native, strict=True):
        try:
            other = _bounded(probe, namespace)
        except Exception:  # noqa: BLE001 - a wrong solution may fail in any way; then its outputs prove nothing
            return False
        if not _same(probe, probe.observed, other, float32_inside):
            return False
        differs = differs or not _same(probe, sound, other, float32_inside)
    return differs


@alone
def _bounded(probe: Probe, namespace: Mapping[str, Any]) -> Observed:
    with memory_at_most(MEMORY_MIB):
        return probe.on(namespace)


def _same(probe: Probe, first: Observed, second: Observed, float32_inside: bool) -> bool:
    case = probe.request.case
    before, after = first.parts(case, watched=True), second.parts(case, watched=True)
    for key, value in before.items():
        slack = lambda path, key=key: probe.due.slack((key, *path))  # noqa: E731
        rules = Rules(slack, {}, exact=key in case.exact, float32_inside=float32_inside)
        if key not in after or _differ(value, after[key], rules):
            return False
    pairs = zip(first.gradients, second.gradients, strict=True)
    return not any(_differ(a, b, Rules(lambda path: None, {}, True, largest(a) * 64)) for a, b in pairs)


def _differ(value: Any, other: Any, rules: Rules) -> bool:
    if isinstance(value, Raised):
        return not isinstance(other, Raised) or other.names[0] != value.names[0]
    return compare(value, value, other, rules) is not None


def _named(folder: Folder, name: str) -> Diagnosis:
    mistake = folder.mistake(name)
    return Diagnosis(name, mistake.says.en or name, mistake.cards or tuple(folder.spec.get("cards") or ()))
