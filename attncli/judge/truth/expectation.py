"""What is due of a case: the reference's outcomes in float64, and how far they may be missed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case, Input
from attncli.judge.compare import Path, leaves
from attncli.judge.guard import alone
from attncli.judge.reference import (
    Cast,
    Namespace,
    Narrowed,
    Observed,
    Rounded,
    as_given,
    exact,
    narrowed,
    perturbed,
    run_natively,
    run_reference,
)
from attncli.judge.truth.tolerance import (
    CLOSER_PERTURBATIONS,
    CONDITIONING_FACTORS,
    NATIVE_FACTOR,
    PERTURBATIONS,
    ROUNDING_FACTOR,
    USUAL_CONDITIONING,
)


class Expectation:
    """The reference's answer to one case; each part is computed when it is first asked for."""

    def __init__(self, namespace: Namespace, case: Case, digits: torch.dtype | None = None) -> None:
        """`digits`: the dtype to whose digits answers are judged, where it is narrower than that of the case."""
        self._namespace = namespace
        self.case = case
        self._digits = digits or case.profile.dtype

    @cached_property
    @alone
    def truth(self) -> Observed:
        return run_reference(self._namespace, self.case, exact)

    @cached_property
    @alone
    def native(self) -> Observed:
        """The reference in the dtypes of the inputs: says which dtypes are due, and what they can hold."""
        return self.truth if self._wide else run_natively(self._namespace, self.case, as_given)

    @property
    def _wide(self) -> bool:
        return self.case.profile.dtype is torch.float64

    def slack(self, path: Path) -> Tensor | None:
        """How far this part of the truth may be missed besides what its dtype rounds; measured once."""
        return self._slack.get(path)

    def closer(self, path: Path) -> Tensor | None:
        """The same from many more measurements, for answers that miss by little."""
        return self._closer.get(path)

    @cached_property
    @alone
    def _closer(self) -> dict[Path, Tensor]:
        truth = dict(leaves(self.truth.parts(self.case)))
        dtype = self._digits
        factor = CONDITIONING_FACTORS.get(dtype, USUAL_CONDITIONING)
        in_dtype = Rounded if dtype is self.case.profile.dtype else Narrowed
        moved = dict(self._slack)
        for turn in range(PERTURBATIONS, PERTURBATIONS + CLOSER_PERTURBATIONS):
            exactly = run_reference(self._namespace, self.case, perturbed(dtype, turn))
            _widen(moved, truth, dict(leaves(exactly.parts(self.case))), factor)
            natively = run_natively(self._namespace, self.case, in_dtype(perturbed(dtype, turn)))
            _widen(moved, truth, dict(leaves(natively.parts(self.case))), NATIVE_FACTOR)
        return moved

    def inside(self, path: Path) -> Tensor | None:
        """How far float32 misses this part of the truth; measured once, at inputs that lie close by."""
        return self._inside.get(path)

    @cached_property
    @alone
    def _inside(self) -> dict[Path, Tensor]:
        moved: dict[Path, Tensor] = {}
        for turn in range(PERTURBATIONS):
            near = perturbed(torch.float32, turn)
            exactly = run_reference(self._namespace, self.case, partial(_through_float32, near))
            coarsely = run_reference(self._namespace, self.case, Narrowed(near))
            truth = dict(leaves(exactly.parts(self.case)))
            _widen(moved, truth, dict(leaves(coarsely.parts(self.case))), NATIVE_FACTOR)
        return moved

    @cached_property
    @alone
    def _slack(self) -> dict[Path, Tensor]:
        truth = dict(leaves(self.truth.parts(self.case)))
        factor = CONDITIONING_FACTORS.get(self._digits, USUAL_CONDITIONING)
        moved: dict[Path, Tensor] = {}
        for turn in range(PERTURBATIONS):
            other = run_reference(self._namespace, self.case, perturbed(self._digits, turn))
            _widen(moved, truth, dict(leaves(other.parts(self.case))), factor)
        coarse = run_reference(self._namespace, self.case, narrowed) if self._wide else self.native
        factor = ROUNDING_FACTOR if self._digits is torch.float64 else NATIVE_FACTOR
        _widen(moved, truth, dict(leaves(coarse.parts(self.case))), factor)
        return moved


def _through_float32(cast: Cast, item: Input) -> Tensor:
    value = cast(item)
    return value.to(torch.float32).to(torch.float64) if value.dtype is torch.float64 else value


def _widen(moved: dict[Path, Tensor], truth: Mapping[Path, Any], other: Mapping[Path, Any], factor: float) -> None:
    for path, value in truth.items():
        changed = other.get(path)
        if not isinstance(value, Tensor) or not isinstance(changed, Tensor) or changed.shape != value.shape:
            continue
        if not value.is_floating_point():
            continue
        distance = (changed.detach().to(torch.float64) - value.detach().to(torch.float64)).abs()
        distance = torch.nan_to_num(distance, nan=0.0, posinf=0.0) * factor
        if distance.dim() and distance.numel():
            distance = distance.amax(-1, keepdim=True).expand(value.shape)
        before = moved.get(path)
        moved[path] = distance if before is None else torch.maximum(before, distance)
