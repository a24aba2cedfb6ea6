"""Naming the mistake: which known wrong solution gives the very outputs that the submission gave.

A name is given only when the outputs prove it: the wrong solution must agree with the submission on every probed case,
the failing ones among them, within the tolerance of the case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attncli.domain.challenge import Diagnosis
from attncli.judge.case import Case
from attncli.judge.compare import Rules, compare
from attncli.judge.expected import Expectation, Observed, as_given, run_reference
from attncli.judge.folder import Folder
from attncli.sandbox.script import Raised

Question = tuple[list[int], list[tuple[int, list[Any], Tensor]]]


@dataclass(frozen=True, slots=True)
class Probe:
    """A case, what the submission made of it, and with which cotangents its gradients were asked for, if they were."""

    case: Case
    observed: Observed
    question: Question | None = None


def diagnose(folder: Folder, probes: Sequence[Probe]) -> list[Diagnosis]:
    """The wrong solutions that agree with what the submission returned on every probe; [] without a proof."""
    if not probes:
        return []
    matching = [name for name in folder.wrong_names() if _agrees(folder, name, probes)]
    return [_named(folder, name) for name in matching]


def _agrees(folder: Folder, name: str, probes: Sequence[Probe]) -> bool:
    namespace = folder.wrong(name).__dict__
    differs = False
    for probe in probes:
        case = probe.case
        try:
            other = _run(namespace, probe)
        except Exception:  # noqa: BLE001 - a wrong solution may fail in any way; then its outputs prove nothing
            return False
        expectation = Expectation(folder.reference.__dict__, case)
        if not _same(case, expectation, probe.observed, other):
            return False
        native = _run(folder.reference.__dict__, probe)
        differs = differs or not _same(case, expectation, native, other)
    return differs


def _run(namespace: Mapping[str, Any], probe: Probe) -> Observed:
    if probe.question is None:
        return run_reference(namespace, probe.case, as_given)
    chosen, cotangents = probe.question
    return run_reference(namespace, probe.case, as_given, leaf_indices=chosen, cotangents=cotangents)


def _same(case: Case, expectation: Expectation, first: Observed, second: Observed) -> bool:
    before, after = first.parts(case, watched=True), second.parts(case, watched=True)
    for key, value in before.items():
        slack = lambda path, key=key: expectation.slack((key, *path))  # noqa: E731
        rules = Rules(slack, {}, exact=key in case.exact)
        if key not in after or _differ(value, after[key], rules):
            return False
    pairs = zip(first.gradients, second.gradients, strict=True)
    return not any(_differ(a, b, Rules(lambda path: None, {}, True, float(a.abs().max()) * 64)) for a, b in pairs)


def _differ(value: Any, other: Any, rules: Rules) -> bool:
    if isinstance(value, Raised):
        return not isinstance(other, Raised) or other.names[0] != value.names[0]
    return compare(value, value, other, rules) is not None


def _named(folder: Folder, name: str) -> Diagnosis:
    said = folder.spec.get("mistakes", {}).get(name, {})
    docstring = (folder.wrong(name).__doc__ or name).strip().splitlines()[0]
    says = said.get("says", {}).get("en") or docstring
    cards = tuple(said.get("cards") or folder.spec.get("cards") or ())
    return Diagnosis(name, says, cards)
