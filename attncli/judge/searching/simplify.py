"""Making the values of a counterexample simple: zeros, ones and whole numbers wherever it still fails."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from attncli.judge.answers.finding import Examine, Finding


def simplify(finding: Finding, examine: Examine, calls: int) -> Finding:
    """The finding with the plainest values found within that many calls; the reason stays the same."""
    best = finding
    for index in range(len(finding.case.inputs)):
        if finding.case.inputs[index].composed:
            continue
        for candidate in _candidates(finding.case.inputs[index].value):
            if calls <= 0:
                return best
            values = [item.value for item in best.case.inputs]
            if torch.equal(values[index], candidate):
                break
            values[index] = candidate
            calls -= 1
            smaller = examine(best.case.with_values(values))
            if smaller is not None and smaller.fatal:
                return best
            if smaller is not None and smaller.reason == finding.reason:
                best = smaller
                break
    return _single_entries(best, examine, calls)


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


def _single_entries(best: Finding, examine: Examine, calls: int) -> Finding:
    """Small tensors entry by entry: 0 first, then 1."""
    for index, item in enumerate(best.case.inputs):
        if item.composed or not item.value.is_floating_point() or item.value.numel() > 12:
            continue
        for place in range(item.value.numel()):
            for plain in (0.0, 1.0):
                current = best.case.inputs[index].value
                if calls <= 0 or current.reshape(-1)[place] == plain:
                    break
                changed = current.contiguous().clone()
                changed.view(-1)[place] = plain
                values = [item.value for item in best.case.inputs]
                values[index] = changed
                calls -= 1
                smaller = examine(best.case.with_values(values))
                if smaller is not None and smaller.fatal:
                    return best
                if smaller is not None and smaller.reason == best.reason:
                    best = smaller
                    break
    return best
