"""Making the values of a counterexample simple: zeros, ones and whole numbers wherever it still fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attncli.judge.answers.finding import CaseFinding, Examine

SIMPLIFY_CALLS = 80
# Hundreds of steps take seconds a call, and nobody reads their numbers one by one.
MOST_STEPS_SIMPLIFIED = 200
# Larger tensors are not simplified entry by entry.
FEW_ENTRIES = 12


def simplify(finding: CaseFinding, examine: Examine) -> CaseFinding:
    """The finding with the plainest values found within `SIMPLIFY_CALLS`; the reason stays the same."""
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
    """The simplest finding so far, and how many calls are left; none after one that ends the grading."""

    best: CaseFinding
    examine: Examine
    calls: int

    def value(self, index: int) -> Tensor:
        return self.best.case.inputs[index].value

    def takes(self, index: int, candidate: Tensor) -> bool:
        """Whether it fails in the same way with `candidate` as this input."""
        values = [item.value for item in self.best.case.inputs]
        values[index] = candidate
        self.calls -= 1
        smaller = self.examine(self.best.case.with_values(values))
        if smaller is not None and smaller.fatal:
            self.calls = 0
        elif smaller is not None and smaller.reason == self.best.reason:
            self.best = smaller
            return True
        return False


def _candidates(value: Tensor) -> Iterator[Tensor]:
    """From the plainest to the least plain. Integer tensors keep their values: they may be indices."""
    if value.dtype is torch.bool:
        yield torch.ones_like(value)
    elif value.is_floating_point():
        yield torch.zeros_like(value)
        yield torch.ones_like(value)
        yield (value > 0).to(value.dtype)
        yield value.round()
        yield (value * 10).round() / 10


def _simplify_entries(trials: _Trials, index: int) -> None:
    """Entry by entry: 0 first, then 1."""
    for place in range(trials.value(index).numel()):
        for plain in (0.0, 1.0):
            current = trials.value(index)
            if trials.calls <= 0 or current.reshape(-1)[place] == plain:
                break
            changed = current.contiguous().clone()
            changed.view(-1)[place] = plain
            if trials.takes(index, changed):
                break
