"""What the gradients of a case are due to be: by random cotangents, in float64, with the slack that rounding needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case
from attncli.judge.compare import leaves
from attncli.judge.guard import alone
from attncli.judge.reference import (
    Cast,
    Cotangents,
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
    GRADIENT_CONDITIONING,
    GRADIENT_PERTURBATIONS,
    NATIVE_FACTOR,
    ROUNDING_FACTOR,
    SMALLEST_INPUT,
)


class GradientExpectation:
    """The vector–Jacobian products of one case for every input that asks for one, computed when asked for."""

    def __init__(self, reference: Mapping[str, Any], case: Case, digits: torch.dtype | None = None) -> None:
        """`digits`: the dtype to whose digits gradients are judged, where it is narrower than that of the case."""
        self._reference = reference
        self.case = case
        self._digits = digits or case.profile.dtype
        self._terms: list[float] = []
        self.chosen = [k for k, item in enumerate(case.inputs) if item.grad and item.follow]

    @property
    def _wide(self) -> bool:
        """Whether the inputs are float64, so that the truth is what the reference says in their own dtype."""
        return self.case.profile.dtype is torch.float64

    @cached_property
    @alone
    def native(self) -> Observed:
        """The reference in the dtypes of the inputs: the form that cotangents must have."""
        return self.truth if self._wide else run_natively(self._reference, self.case, as_given)

    @cached_property
    @alone
    def _truth(self) -> tuple[Observed, Cotangents]:
        made: list[tuple[int, list[Any], Tensor]] = []

        def wide(outcomes: list[Any]) -> Cotangents:
            _note_terms(outcomes, self._terms)
            made.extend(_random_cotangents(self.case, outcomes, outcomes if self._wide else self.native.outcomes))
            return _in_float64(made)

        truth = run_reference(self._reference, self.case, exact, leaf_indices=self.chosen, cotangents=wide)
        return truth, made

    @property
    def truth(self) -> Observed:
        return self._truth[0]

    @property
    def cotangents(self) -> Cotangents:
        """(step, path inside its outcome, vector in the dtype that is due there)."""
        return self._truth[1]

    @cached_property
    @alone
    def wide_cotangents(self) -> Cotangents:
        return _in_float64(self.cotangents)

    @cached_property
    @alone
    def ones(self) -> Cotangents:
        """Cotangents of 1 for results that are not compared, because they are random."""
        return [
            (step, list(path), torch.ones_like(value))
            for step in sorted(self.case.ignored)
            for path, value in leaves(self.native.outcomes[step])
            if isinstance(value, Tensor) and value.is_floating_point()
        ]

    @alone
    def floor(self, leaf: int) -> float:
        """How large a gradient is before terms cancel: the cotangent times another input, or outcome over input.

        The largest term is measured as well: what reaches an input by one of its uses, times the input. Of a row of one
        number LayerNorm's gradients are 0, of terms that are 1/√ε times the cotangent.
        """
        inputs, outcomes = self.case.inputs, self.truth.outcomes
        parts = [_part(outcomes[step], path) for step, path, _ in self.cotangents]
        most = max((largest(part) for part in parts), default=0.0)
        vector = max((largest(v) for _, _, v in self.cotangents), default=0.0)
        others = max((largest(i.value) for k, i in enumerate(inputs) if k != leaf and i.follow), default=0.0)
        terms = max([vector * most, *self._terms])
        return max(vector, vector * others, terms / max(largest(inputs[leaf].value), SMALLEST_INPUT))

    @cached_property
    @alone
    def slack(self) -> list[Tensor]:
        """For each chosen input how far its gradient moves under one-ulp changes, and in the reference's own dtype."""
        casts: list[tuple[Cast, float]] = [
            (perturbed(self._digits, turn), GRADIENT_CONDITIONING) for turn in range(GRADIENT_PERTURBATIONS)
        ]
        factor = ROUNDING_FACTOR if self._digits is torch.float64 else NATIVE_FACTOR
        casts.append((narrowed if self._wide else as_given, factor))
        return self._moved([torch.zeros((), dtype=torch.float64) for _ in self.chosen], casts)

    @cached_property
    @alone
    def closer(self) -> list[Tensor]:
        """The same from many more measurements, for gradients that miss by little."""
        dtype = self._digits
        in_dtype = Rounded if dtype is self.case.profile.dtype else Narrowed
        turns = range(GRADIENT_PERTURBATIONS, GRADIENT_PERTURBATIONS + CLOSER_PERTURBATIONS)
        exactly: list[tuple[Cast, float]] = [(perturbed(dtype, turn), GRADIENT_CONDITIONING) for turn in turns]
        natively: list[tuple[Cast, float]] = [(in_dtype(perturbed(dtype, turn)), NATIVE_FACTOR) for turn in turns]
        return self._moved(list(self.slack), [*exactly, *natively])

    def _moved(self, moved: list[Tensor], casts: Sequence[tuple[Cast, float]]) -> list[Tensor]:
        for cast, factor in casts:
            in_own_dtype = cast is as_given or isinstance(cast, Rounded)
            vectors = self._native_vectors() if in_own_dtype else self.wide_cotangents
            run = run_natively if in_own_dtype else run_reference
            other = run(self._reference, self.case, cast, leaf_indices=self.chosen, cotangents=vectors)
            for position, (a, b) in enumerate(zip(self.truth.gradients, other.gradients, strict=True)):
                distance = torch.nan_to_num((a.to(torch.float64) - b.to(torch.float64)).abs(), nan=0.0, posinf=0.0)
                if distance.numel():
                    moved[position] = torch.maximum(moved[position], distance.max() * factor)
        return moved

    def _native_vectors(self) -> Cotangents:
        return [(step, path, vector.to(self.case.profile.dtype)) for step, path, vector in self.wide_cotangents]


def _random_cotangents(case: Case, outcomes: Sequence[Any], native: Sequence[Any]) -> Cotangents:
    generator = torch.Generator().manual_seed(case.seed + 1)
    vectors = []
    for step, outcome in enumerate(outcomes):
        if step in case.ignored:
            continue
        due = dict(leaves(native[step]))
        for path, value in leaves(outcome):
            if isinstance(value, Tensor) and value.is_floating_point() and path in due:
                vector = torch.randn(value.shape, generator=generator, dtype=torch.float64)
                for dtype in case.dtypes.get((step, *path), ()):
                    vector = vector.to(dtype)  # exact in every dtype that the part may have
                vectors.append((step, list(path), vector.to(due[path].dtype)))
    return vectors


def _note_terms(outcomes: list[Any], terms: list[float]) -> None:
    """Lets a backward pass note the size of each term that is added up in a leaf, times the leaf's largest value."""
    waiting = [value.grad_fn for _, value in leaves(outcomes) if isinstance(value, Tensor)]
    seen: set[Any] = set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        for place, (following, _) in enumerate(node.next_functions):
            waiting.append(following)
            if (leaf := getattr(following, "variable", None)) is not None:
                node.register_hook(partial(_note_term, terms, place, largest(leaf)))


def _note_term(terms: list[float], place: int, size: float, passed: Sequence[Tensor | None], _: Any) -> None:
    term = passed[place]
    if term is not None:
        terms.append(size * largest(term))


def _in_float64(cotangents: Cotangents) -> Cotangents:
    return [(step, path, vector.to(torch.float64)) for step, path, vector in cotangents]


def largest(tensor: Tensor) -> float:
    finite = torch.nan_to_num(tensor.detach().to(torch.float64), nan=0.0, posinf=0.0, neginf=0.0)
    return float(finite.abs().max()) if finite.numel() else 0.0


def _part(value: Any, path: Sequence[Any]) -> Any:
    for key in path:
        value = value[key]
    return value
