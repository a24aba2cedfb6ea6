"""Answers with fewer digits than their dtype has: those of bfloat16 in float32, those of float32 in float64."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attncli.domain.grade_report import Diagnosis
from attncli.domain.text import Localised
from attncli.judge.case import Case, Input
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.judge.naming.samples import Sample
from attncli.judge.patterns import NamedPattern, enough
from attncli.judge.reference import Observed, exact, run_reference
from attncli.judge.truth.demands import Demands
from attncli.judge.truth.tolerance import EPSILONS

NARROWER = (torch.float32, torch.bfloat16, torch.float16)


def is_rounding(found: Diagnosis) -> bool:
    """Tell whether a diagnosis speaks of lost digits alone."""
    return "rounded-to-" in found.wrong


def rounding_of(wrong: Sequence[Sample], what: Localised, demands: Demands) -> NamedPattern | None:
    """The dtype whose digits all answers have, or to which the inputs must have been rounded to give them."""
    telling = [sample for sample in wrong if sample.is_telling()]
    if not enough(telling):
        return None
    for dtype in NARROWER:
        if not all(torch.finfo(dtype).eps > torch.finfo(sample.got.dtype).eps for sample in wrong):
            continue
        name = str(dtype).removeprefix("torch.")
        if all(_has_digits_of(sample, dtype) for sample in wrong):
            return f"rounded-to-{name}", say("digits-of", what=what, dtype=name)
        if _right_for_rounded_inputs(wrong, dtype, demands):
            return f"inputs-rounded-to-{name}", say("inputs-rounded", what=what, dtype=name)
    return None


def _has_digits_of(sample: Sample, dtype: torch.dtype) -> bool:
    """Whether it is what was due to within that dtype's rounding, and every entry is a number of that dtype."""
    if sample.got.shape != sample.due.shape or not torch.equal(sample.got.to(dtype).to(sample.got.dtype), sample.got):
        return False
    size = sample.due.abs()
    reach = size.amax(-1, keepdim=True) if size.dim() and size.numel() else size
    allowed = EPSILONS[dtype] * torch.finfo(dtype).eps * (size + reach) + torch.finfo(dtype).tiny
    return bool(((sample.got.to(torch.float64) - sample.due).abs() <= allowed).all())


def _right_for_rounded_inputs(wrong: Sequence[Sample], dtype: torch.dtype, demands: Demands) -> bool:
    rounded: dict[int, Observed] = {}
    for sample in wrong:
        if id(sample.case) not in rounded:
            rounded[id(sample.case)] = _of_rounded(sample.case, dtype, demands)
        value = rounded[id(sample.case)].outcomes[sample.key]
        for name in sample.part:
            value = value[name]
        if not isinstance(value, Tensor) or not sample.fits(value.detach().to(torch.float64), sample.slack):
            return False
    return True


@alone
def _of_rounded(case: Case, dtype: torch.dtype, demands: Demands) -> Observed:
    def cast(item: Input) -> Tensor:
        return item.value.detach().to(dtype).to(torch.float64) if item.follow else exact(item)

    return run_reference(demands.reference, case, cast)
