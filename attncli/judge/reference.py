"""Run the reference on a case in this process, and derive the expected outcomes, gradients and properties.

Values in float64 and their tolerances are computed on the CPU, whatever the device of the grading: a GPU rounds no
better. Dtypes, their range, costs and devices of results come from a run on the device of the grading: `run_natively`.
Tolerances are measured on perturbed inputs, with the factors of compare.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attncli.i18n import Localised
from attncli.judge.case import Case, Complaint, DigitsLost, Handle, Input
from attncli.judge.compare import (
    CLOSER_PERTURBATIONS,
    CONDITIONING_FACTORS,
    GRADIENT_CONDITIONING,
    GRADIENT_PERTURBATIONS,
    NATIVE_FACTOR,
    PERTURBATIONS,
    ROUNDING_FACTOR,
    SMALLEST_INPUT,
    USUAL_CONDITIONING,
    Path,
    leaves,
)
from attncli.judge.guard import alone
from attncli.judge.messages import say
from attncli.sandbox import devices
from attncli.sandbox.devices import with_each
from attncli.sandbox.interpreter import ExpressionFunction, execute, gradients
from attncli.sandbox.tracing import Step
from attncli.sandbox.values import Environment, resolve

Namespace = Mapping[str, Any]
Cast = Callable[[Input], Tensor]
Cotangents = Sequence[tuple[int, list[Any], Tensor]]


@dataclass(slots=True)
class Observed:
    """Results of a program, run by the reference or by a submission.

    `calls` lists the argument shapes of the calls of each callable. All tensors are on the CPU; in a grading on another
    device, `devices` has the original device of each, by path.
    """

    outcomes: list[Any]
    shared: list[Any] = field(default_factory=list)
    gradients: list[Tensor] = field(default_factory=list)
    calls: list[list[Any]] = field(default_factory=list)
    pure: dict[str, Any] = field(default_factory=dict)
    seen: list[list[Any]] = field(default_factory=list)
    makes: bool = True
    costs: list[dict[str, int]] = field(default_factory=list)
    device_us: list[int] = field(default_factory=list)
    devices: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def whole(self) -> dict[Any, Any]:
        """Return every outcome and every shared object, by the first key of their paths."""
        return dict(enumerate(self.outcomes)) | {f"shared {k}": value for k, value in enumerate(self.shared)}

    def parts(self, case: Case, watched: bool = False, formed: bool = False) -> dict[Any, Any]:
        """Return the parts to compare: the outcome of each step that counts, and the shared objects afterwards.

        With `watched`, add the calls of callables that are judged by a property; with `formed`, the results that are
        compared in shape and dtype alone.
        """
        left_out = case.ignored - case.formed if formed else case.ignored
        parts: dict[Any, Any] = {k: v for k, v in enumerate(self.outcomes) if k not in left_out}
        for step, *path in case.opaque:
            if step in parts:
                parts[step] = _without(parts[step], path)
        parts |= {f"shared {k}": value for k, value in enumerate(self.shared)}
        for k in sorted({*case.counted, *(case.watched if watched else ())}):
            parts[f"calls {k}"] = self.calls[k]
        return parts


def _without(value: Any, path: Sequence[Any]) -> Any:
    """Return the outcome with None at `path`; unchanged if there is no such part."""
    if not path:
        return None
    if isinstance(value, dict):
        return {key: _without(part, path[1:]) if key == path[0] else part for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without(part, path[1:]) if k == path[0] else part for k, part in enumerate(value))
    return value


def run_reference(
    namespace: Namespace,
    case: Case,
    cast: Cast,
    *,
    leaf_indices: Sequence[int] = (),
    cotangents: Cotangents | Callable[[list[Any]], Cotangents] | None = None,
    costs: Collection[str] = (),
    device: str = "cpu",
    as_in_worker: bool = False,
) -> Observed:
    """Run the program on trusted code, in this process. With `cotangents`, compute the gradients of the leaves as well.

    They may be a function of the outcomes. `device` is one of `sandbox.devices`, or "meta". With `as_in_worker`, for
    code that may be wrong, every result is copied when it is returned, and a tally repeats its call.
    """
    away = device in devices.AWAY
    tensors = [devices.placed(cast(item), device) if away else cast(item).to(device) for item in case.inputs]
    if cotangents is not None:
        chosen = set(leaf_indices)
        tensors = [t.requires_grad_() if k in chosen else t for k, t in enumerate(tensors)]
    environment, calls = _environment(case, cast, tensors, device)
    environment.repeats = as_in_worker
    devices.seed_all(device, case.seed)
    with devices.beside(device, case.default_device):
        returned = _Returned(case.steps, as_in_worker)
        run = execute(namespace, case.steps, environment, after=returned.note, costs=costs)
    as_returned = cotangents is None or as_in_worker
    outcomes = returned.of(run.outcomes) if as_returned else run.outcomes
    observed = Observed(outcomes, environment.shared, calls=calls, costs=run.costs)
    if cotangents is not None:
        vectors = cotangents(run.outcomes) if callable(cotangents) else cotangents
        if away:
            vectors = [(step, path, devices.placed(vector, device)) for step, path, vector in vectors]
        with devices.beside(device):
            observed.gradients = gradients(run, environment, leaf_indices, vectors)
    return observed


def run_natively(namespace: Namespace, case: Case, cast: Cast, **options: Any) -> Observed:
    """Run the program on the grading's device and return its tensors to the CPU; `devices` names their devices."""
    if case.profile.device not in devices.AWAY:
        return run_reference(namespace, case, cast, **options)
    there = run_reference(namespace, case, cast, device=case.profile.device, **options)
    places = {path: devices.place_of(part) for path, part in leaves(there.whole()) if isinstance(part, Tensor)}
    outcomes, shared = devices.brought_home(there.outcomes), devices.brought_home(there.shared)
    at_home = [devices.home(gradient) for gradient in there.gradients]
    return replace(there, outcomes=outcomes, shared=shared, gradients=at_home, devices=places)


def _environment(case: Case, cast: Cast, tensors: Sequence[Tensor], device: str) -> tuple[Environment, list[list[Any]]]:
    """Return the values that the trees of a case refer to, and the logs of its callables."""
    functions, calls = logged(case.callables)
    if device in devices.AWAY:
        beside = [isinstance(function, ExpressionFunction) for function in case.callables]
        functions = [f if here else devices.across(f, device) for f, here in zip(functions, beside, strict=True)]
    generators = [devices.generator(device, seed) for seed in case.generators]
    environment = Environment(tensors, functions, generators)
    environment.device = device
    in_own_dtype = cast is as_given or isinstance(cast, Rounded)
    wide = torch.float32 if isinstance(cast, Narrowed) else torch.float64
    environment.module_dtype = case.profile.dtype if in_own_dtype else wide
    environment.module_device = devices.torch_name(device)
    environment.shared = [resolve(tree, environment) for tree in case.shared]
    return environment, calls


class _Returned:
    """Copies results of methods at once, since they may be views of the object's state. `calls`: also of functions."""

    def __init__(self, steps: Sequence[Step], calls: bool) -> None:
        self._steps = steps
        self._copied = ("method", "call") if calls else ("method",)
        self._then: dict[int, Any] = {}

    def note(self, index: int, _arguments: Any, outcome: Any) -> None:
        if self._steps[index]["op"] in self._copied:
            self._then[index] = with_each(outcome, lambda tensor: tensor.detach().clone())

    def of(self, outcomes: Sequence[Any]) -> list[Any]:
        return [self._then.get(index, outcome) for index, outcome in enumerate(outcomes)]


def logged(functions: Sequence[Callable[..., Any]]) -> tuple[list[Callable[..., Any]], list[list[Any]]]:
    """Wrap the callables of a case to log the argument shapes of their calls. Returns them and the logs."""
    calls: list[list[Any]] = [[] for _ in functions]

    def wrap(function: Callable[..., Any], log: list[Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            values = _in_order(function, args, kwargs)
            log.append([list(a.shape) if isinstance(a, Tensor) else str(type(a).__name__) for a in values])
            return function(*args, **kwargs)

        return call

    return [wrap(f, log) for f, log in zip(functions, calls, strict=True)], calls


def _in_order(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a call in the order of the signature if that is known, by position or by keyword."""
    try:
        return list(inspect.signature(function).bind(*args, **kwargs).arguments.values())
    except (TypeError, ValueError):
        return [*args, *kwargs.values()]


# Casts: change the dtypes and values of the inputs for a run, always in fresh memory


def exact(item: Input) -> Tensor:
    """Return a copy of the input, in float64 if it may `follow`."""
    return item.value.detach().to(torch.float64).clone() if item.follow else item.value.detach().clone()


def as_given(item: Input) -> Tensor:
    return item.value.detach().clone()


def perturbed(dtype: torch.dtype, turn: int) -> Cast:
    """Move every floating input by one ulp of `dtype`, up or down at random; in float64."""
    generator = torch.Generator().manual_seed(7919 + turn)
    eps = torch.finfo(dtype).eps

    def cast(item: Input) -> Tensor:
        value = exact(item)
        if not item.follow:
            return value
        sign = torch.randint(0, 2, value.shape, generator=generator).to(torch.float64) * 2 - 1
        return value * (1 + eps * sign)

    return cast


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Rounds the inputs of another cast to float32; modules are in float32, too."""

    cast: Cast

    def __call__(self, item: Input) -> Tensor:
        value = self.cast(item)
        return value.to(torch.float32) if item.follow else value


@dataclass(frozen=True, slots=True)
class Rounded:
    """Rounds the inputs of another cast to their own dtypes; modules are in the dtype of the case."""

    cast: Cast

    def __call__(self, item: Input) -> Tensor:
        return self.cast(item).to(item.value.dtype)


# The expected answer


class Expectation:
    """The reference's outcomes of one case, and their tolerances; computed when first asked for."""

    def __init__(self, namespace: Namespace, case: Case, digits: torch.dtype | None = None) -> None:
        """`digits`: the dtype for judging answers, if narrower than the case's."""
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
        """The reference in the dtypes of the inputs: the dtypes that answers must have, and their range."""
        return self.truth if self._wide else run_natively(self._namespace, self.case, as_given)

    @property
    def _wide(self) -> bool:
        return self.case.profile.dtype is torch.float64

    @cached_property
    @alone
    def slack(self) -> dict[Path, Tensor]:
        """The error allowed in each part in addition to rounding."""
        factor = CONDITIONING_FACTORS.get(self._digits, USUAL_CONDITIONING)
        moved: dict[Path, Tensor] = {}
        for turn in range(PERTURBATIONS):
            other = run_reference(self._namespace, self.case, perturbed(self._digits, turn))
            self._widen(moved, self.truth, other, factor)
        coarse = run_reference(self._namespace, self.case, Narrowed(exact)) if self._wide else self.native
        factor = ROUNDING_FACTOR if self._digits is torch.float64 else NATIVE_FACTOR
        self._widen(moved, self.truth, coarse, factor)
        return moved

    @cached_property
    @alone
    def closer(self) -> dict[Path, Tensor]:
        """The same as `slack`, from many more measurements, for answers that miss by little."""
        dtype = self._digits
        factor = CONDITIONING_FACTORS.get(dtype, USUAL_CONDITIONING)
        in_dtype = Rounded if dtype is self.case.profile.dtype else Narrowed
        moved = dict(self.slack)
        for turn in range(PERTURBATIONS, PERTURBATIONS + CLOSER_PERTURBATIONS):
            exactly = run_reference(self._namespace, self.case, perturbed(dtype, turn))
            self._widen(moved, self.truth, exactly, factor)
            natively = run_natively(self._namespace, self.case, in_dtype(perturbed(dtype, turn)))
            self._widen(moved, self.truth, natively, NATIVE_FACTOR)
        return moved

    @cached_property
    @alone
    def inside(self) -> dict[Path, Tensor]:
        """The float32 error of each part, measured at nearby inputs."""
        moved: dict[Path, Tensor] = {}
        for turn in range(PERTURBATIONS):
            near = perturbed(torch.float32, turn)
            exactly = run_reference(self._namespace, self.case, partial(_through_float32, near))
            coarsely = run_reference(self._namespace, self.case, Narrowed(near))
            self._widen(moved, exactly, coarsely, NATIVE_FACTOR)
        return moved

    def _widen(self, moved: dict[Path, Tensor], exactly: Observed, other: Observed, factor: float) -> None:
        """Raise the distances in `moved` to `factor` times those between two runs, taking the largest of each row."""
        others = dict(leaves(other.parts(self.case)))
        for path, value in leaves(exactly.parts(self.case)):
            changed = others.get(path)
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


def _through_float32(cast: Cast, item: Input) -> Tensor:
    value = cast(item)
    return value.to(torch.float32).to(torch.float64) if value.dtype is torch.float64 else value


class GradientExpectation(Expectation):
    """The vector–Jacobian products of one case with random cotangents, for every input that asks for its gradient.

    The path of a gradient is its position among these inputs, `chosen`.
    """

    def __init__(self, namespace: Namespace, case: Case, digits: torch.dtype | None = None) -> None:
        super().__init__(namespace, case, digits)
        self._terms: list[float] = []
        self.chosen = [k for k, item in enumerate(case.inputs) if item.grad and item.follow]

    @cached_property
    @alone
    def _truth(self) -> tuple[Observed, Cotangents]:
        made: list[tuple[int, list[Any], Tensor]] = []

        def wide(outcomes: list[Any]) -> Cotangents:
            _note_terms(outcomes, self._terms)
            made.extend(_random_cotangents(self.case, outcomes, outcomes if self._wide else self.native.outcomes))
            return _in_float64(made)

        truth = run_reference(self._namespace, self.case, exact, leaf_indices=self.chosen, cotangents=wide)
        return truth, made

    @cached_property
    def truth(self) -> Observed:
        return self._truth[0]

    @property
    def cotangents(self) -> Cotangents:
        """The cotangents: (step, path inside its outcome, vector in the dtype of that part)."""
        return self._truth[1]

    @cached_property
    @alone
    def ones(self) -> Cotangents:
        """Cotangents of 1 for results that are not compared because they are random."""
        return [
            (step, list(path), torch.ones_like(value))
            for step in sorted(self.case.ignored)
            for path, value in leaves(self.native.outcomes[step])
            if isinstance(value, Tensor) and value.is_floating_point()
        ]

    @alone
    def floor(self, leaf: int) -> float:
        """Estimate the size of a gradient before its terms cancel.

        It is the largest of: the cotangent; the cotangent times another input; the cotangent times the outcome, or a
        term of the backward pass, over the input. The terms matter: LayerNorm of a row of one number has the gradient
        0, made of terms that are 1/√ε times the cotangent.
        """
        vector, terms, sizes = self._sizes
        others = max((size for k, size in sizes.items() if k != leaf), default=0.0)
        return max(vector, vector * others, terms / max(sizes[leaf], SMALLEST_INPUT))

    @cached_property
    def _sizes(self) -> tuple[float, float, dict[int, float]]:
        """Return the largest cotangent, the largest gradient term times its leaf, and each `follow` input's largest."""
        parts = [Handle(step, tuple(path)).found_in(self.truth.outcomes) for step, path, _ in self.cotangents]
        most = max((largest(part) for part in parts), default=0.0)
        vector = max((largest(v) for _, _, v in self.cotangents), default=0.0)
        sizes = {k: largest(item.value) for k, item in enumerate(self.case.inputs) if item.follow}
        return vector, max([vector * most, *self._terms]), sizes

    @cached_property
    @alone
    def slack(self) -> dict[Path, Tensor]:
        """Measure for each chosen input the change of its gradient under one-ulp changes, and in narrower dtypes."""
        casts: list[tuple[Cast, float]] = [
            (perturbed(self._digits, turn), GRADIENT_CONDITIONING) for turn in range(GRADIENT_PERTURBATIONS)
        ]
        factor = ROUNDING_FACTOR if self._digits is torch.float64 else NATIVE_FACTOR
        casts.append((Narrowed(exact) if self._wide else as_given, factor))
        return self._moved({(k,): torch.zeros((), dtype=torch.float64) for k in range(len(self.chosen))}, casts)

    @cached_property
    @alone
    def closer(self) -> dict[Path, Tensor]:
        """Measure `slack` many more times, for gradients that miss by little."""
        dtype = self._digits
        in_dtype = Rounded if dtype is self.case.profile.dtype else Narrowed
        turns = range(GRADIENT_PERTURBATIONS, GRADIENT_PERTURBATIONS + CLOSER_PERTURBATIONS)
        exactly: list[tuple[Cast, float]] = [(perturbed(dtype, turn), GRADIENT_CONDITIONING) for turn in turns]
        natively: list[tuple[Cast, float]] = [(in_dtype(perturbed(dtype, turn)), NATIVE_FACTOR) for turn in turns]
        return self._moved(dict(self.slack), [*exactly, *natively])

    def _moved(self, moved: dict[Path, Tensor], casts: Sequence[tuple[Cast, float]]) -> dict[Path, Tensor]:
        for cast, factor in casts:
            in_own_dtype = cast is as_given or isinstance(cast, Rounded)
            vectors = _in_float64(self.cotangents)
            if in_own_dtype:
                vectors = [(step, path, vector.to(self.case.profile.dtype)) for step, path, vector in vectors]
            run = run_natively if in_own_dtype else run_reference
            other = run(self._namespace, self.case, cast, leaf_indices=self.chosen, cotangents=vectors)
            for position, (a, b) in enumerate(zip(self.truth.gradients, other.gradients, strict=True)):
                distance = torch.nan_to_num((a.to(torch.float64) - b.to(torch.float64)).abs(), nan=0.0, posinf=0.0)
                if distance.numel():
                    moved[position,] = torch.maximum(moved[position,], distance.max() * factor)
        return moved


def _random_cotangents(case: Case, outcomes: Sequence[Any], native: Sequence[Any]) -> Cotangents:
    generator = torch.Generator().manual_seed(case.seed + 1)
    vectors = []
    for step, outcome in enumerate(outcomes):
        if step in case.ignored:
            continue
        dtypes = {path: part.dtype for path, part in leaves(native[step]) if isinstance(part, Tensor)}
        for path, value in leaves(outcome):
            if isinstance(value, Tensor) and value.is_floating_point() and path in dtypes:
                vector = torch.randn(value.shape, generator=generator, dtype=torch.float64)
                for dtype in case.dtypes.get((step, *path), ()):
                    vector = vector.to(dtype)  # exact in every dtype that the part may have
                vectors.append((step, list(path), vector.to(dtypes[path])))
    return vectors


def _note_terms(outcomes: list[Any], terms: list[float]) -> None:
    """Record in a backward pass the size of each gradient term of a leaf, times the leaf's largest value."""
    waiting = [value.grad_fn for _, value in leaves(outcomes) if isinstance(value, Tensor)]
    seen: set[Any] = set()
    sizes: dict[Tensor, float] = {}
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        for place, (following, _) in enumerate(node.next_functions):
            waiting.append(following)
            if (leaf := getattr(following, "variable", None)) is not None:
                if leaf not in sizes:
                    sizes[leaf] = largest(leaf)
                node.register_hook(partial(_note_term, terms, place, sizes[leaf]))


def _note_term(terms: list[float], place: int, size: float, passed: Sequence[Tensor | None], _: Any) -> None:
    term = passed[place]
    if term is not None:
        terms.append(size * largest(term))


def _in_float64(cotangents: Cotangents) -> Cotangents:
    return [(step, path, vector.to(torch.float64)) for step, path, vector in cotangents]


def largest(tensor: Tensor) -> float:
    finite = torch.nan_to_num(tensor.detach().to(torch.float64), nan=0.0, posinf=0.0, neginf=0.0)
    return float(finite.abs().max()) if finite.numel() else 0.0


# Properties that a case demands of its results


class Broken(NamedTuple):
    """A broken property. `of_values`: the complaint is about the values of this case; a complaint about calls is true
    for simpler values too. `digits_only`: only float64's digits are missing.
    """

    message: Localised
    of_values: bool
    digits_only: bool


def broken_properties(case: Case, actual: Observed) -> Iterator[Broken]:
    """Yield the complaints about an answer, in the order of the properties."""
    questions = [(partial(holds, actual.outcomes), True) for holds in case.properties]
    questions += [(partial(holds, actual.calls[k], actual.outcomes), False) for k, holds in case.watched.items()]
    for question, of_values in questions:
        yield from _complaint(question, of_values)


def broken_gradient_properties(case: Case, actual: Observed) -> Iterator[Broken]:
    """Yield the complaints about the gradients of random results."""
    for holds in case.gradient_properties:
        yield from _complaint(partial(holds, actual.outcomes, actual.gradients), True)


def _complaint(question: Callable[[], Complaint | None], of_values: bool) -> Iterator[Broken]:
    """Yield the complaint of a property, if it has one.

    Properties are written for results of the right form: an error that one raises means that the form is wrong.
    """
    try:
        complaint = question()
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        message = say("other-form-of-result", error=f"{type(error).__name__}: {str(error)[:300]}")
        yield Broken(message, of_values, digits_only=False)
        return
    if complaint is None:
        return
    message = Localised(*complaint)
    digits_only = isinstance(complaint, DigitsLost)
    yield Broken(say("digits-lost", fault=message) if digits_only else message, of_values, digits_only)
