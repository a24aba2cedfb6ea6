"""The reference run on a case in this process: in float64, in the dtypes of the inputs, or on inputs that are moved.

What is due in float64, and how far it may be missed, is computed on the CPU whatever device is graded on: it is the
truth of the case, and a GPU rounds no better. What a submission is compared with as given (its dtypes, what these can
hold, what it may cost, where its results lie) comes from a run on the device of the grading: `run_natively`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attncli.domain.text import Localised
from attncli.judge.case import Case, Complaint, DigitsLost, Input
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
    """What a program did, on either side of the boundary. `calls` lists the shapes each callable was called with.

    Of a grading on another device the tensors are at home, on the CPU, and `lies` says by their paths where they were.
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
    lies: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def whole(self) -> dict[Any, Any]:
        """Every outcome and every shared object, by the names that parts of them have in paths."""
        return dict(enumerate(self.outcomes)) | self._shared_parts()

    def _shared_parts(self) -> dict[Any, Any]:
        return {f"shared {k}": value for k, value in enumerate(self.shared)}

    def parts(self, case: Case, watched: bool = False, formed: bool = False) -> dict[Any, Any]:
        """What is compared: the outcome of each step that counts, and the shared objects afterwards.

        With `watched` also the calls of callables that need not be called as the reference calls them; with `formed`
        also what is compared in form alone.
        """
        left_out = case.ignored - case.formed if formed else case.ignored
        parts: dict[Any, Any] = {k: v for k, v in enumerate(self.outcomes) if k not in left_out}
        for step, *path in case.opaque:
            if step in parts:
                parts[step] = _without(parts[step], path)
        parts |= self._shared_parts()
        for k in sorted({*case.counted, *(case.watched if watched else ())}):
            parts[f"calls {k}"] = self.calls[k]
        return parts


def _without(value: Any, path: Sequence[Any]) -> Any:
    """The outcome with nothing where `path` leads to; as it is where it leads nowhere."""
    if not path:
        return None
    if isinstance(value, dict):
        return {key: _without(part, path[1:]) if key == path[0] else part for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without(part, path[1:]) if k == path[0] else part for k, part in enumerate(value))
    return value


def exact(item: Input) -> Tensor:
    """The input in float64 where it may follow; fresh memory either way."""
    return item.value.detach().to(torch.float64).clone() if item.follow else item.value.detach().clone()


def narrowed(item: Input) -> Tensor:
    """The input in float32 where it may follow."""
    return item.value.detach().to(torch.float32).clone() if item.follow else item.value.detach().clone()


def as_given(item: Input) -> Tensor:
    return item.value.detach().clone()


def logged(functions: Sequence[Callable[..., Any]]) -> tuple[list[Callable[..., Any]], list[list[Any]]]:
    """The callables of a case, each noting the argument shapes of its calls."""
    calls: list[list[Any]] = [[] for _ in functions]

    def wrap(function: Callable[..., Any], log: list[Any]) -> Callable[..., Any]:
        signature = _signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            values = _in_order(signature, args, kwargs)
            log.append([list(a.shape) if isinstance(a, Tensor) else str(type(a).__name__) for a in values])
            return function(*args, **kwargs)

        return call

    return [wrap(f, log) for f, log in zip(functions, calls, strict=True)], calls


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """None for functions of C that tell none."""
    try:
        return inspect.signature(function)
    except ValueError:
        return None


def _in_order(signature: inspect.Signature | None, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments of a call in the order of the signature, however they were passed."""
    if signature is None:
        return [*args, *kwargs.values()]
    try:
        return list(signature.bind(*args, **kwargs).arguments.values())
    except TypeError:
        return [*args, *kwargs.values()]


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
    """The program on trusted code, in this process. With `cotangents` the gradients of the leaves as well.

    They may be made from the outcomes, once these are known. `device` is one of `placement`, or "meta". For code that
    may be wrong, `as_in_worker`: every result is copied when it is returned, and a tally repeats its call.
    """
    tensors = _inputs(case, cast, device)
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
        sent = _sent(vectors, device) if device in devices.AWAY else vectors
        with devices.beside(device):
            observed.gradients = gradients(run, environment, leaf_indices, sent)
    return observed


def _inputs(case: Case, cast: Cast, device: str) -> list[Tensor]:
    tensors = [cast(item) for item in case.inputs]
    if device in devices.AWAY:
        return [devices.placed(tensor, device) for tensor in tensors]
    return tensors if device == "cpu" else [tensor.to(device) for tensor in tensors]


def _environment(case: Case, cast: Cast, tensors: Sequence[Tensor], device: str) -> tuple[Environment, list[list[Any]]]:
    """What the references in the trees of a case stand for, and the list in which its callables note their calls."""
    functions, calls = logged(case.callables)
    if device in devices.AWAY:
        beside = [isinstance(function, ExpressionFunction) for function in case.callables]
        functions = [f if here else devices.across(f, device) for f, here in zip(functions, beside, strict=True)]
    generators = [devices.generator(device, seed) for seed in case.generators]
    environment = Environment(tensors, functions, generators)
    environment.device = device
    environment.module_dtype = _module_dtype(case, cast)
    environment.module_device = devices.torch_name(device)
    environment.shared = [resolve(tree, environment) for tree in case.shared]
    return environment, calls


def _sent(vectors: Cotangents, device: str) -> Cotangents:
    return [(step, path, devices.placed(vector, device)) for step, path, vector in vectors]


def run_natively(namespace: Namespace, case: Case, cast: Cast, **asked: Any) -> Observed:
    """The program on the device of the grading, with its tensors brought home and told where they lay."""
    if case.profile.device not in devices.AWAY:
        return run_reference(namespace, case, cast, **asked)
    there = run_reference(namespace, case, cast, device=case.profile.device, **asked)
    lies = {path: devices.place_of(part) for path, part in leaves(there.whole()) if isinstance(part, Tensor)}
    outcomes, shared = devices.brought_home(there.outcomes), devices.brought_home(there.shared)
    at_home = [devices.home(gradient) for gradient in there.gradients]
    return replace(there, outcomes=outcomes, shared=shared, gradients=at_home, lies=lies)


class _Returned:
    """What methods returned, as it was then: it may be a view of what the object keeps, and change. `calls`: what
    functions returned as well."""

    def __init__(self, steps: Sequence[Step], calls: bool) -> None:
        self._steps = steps
        self._copied = ("method", "call") if calls else ("method",)
        self._then: dict[int, Any] = {}

    def note(self, index: int, _arguments: Any, outcome: Any) -> None:
        if self._steps[index]["op"] in self._copied:
            self._then[index] = with_each(outcome, lambda tensor: tensor.detach().clone())

    def of(self, outcomes: Sequence[Any]) -> list[Any]:
        return [self._then.get(index, outcome) for index, outcome in enumerate(outcomes)]


def _module_dtype(case: Case, cast: Cast) -> torch.dtype:
    if cast is as_given or isinstance(cast, Rounded):
        return case.profile.dtype
    return torch.float32 if cast is narrowed or isinstance(cast, Narrowed) else torch.float64


def perturbed(dtype: torch.dtype, turn: int) -> Cast:
    """Every floating input moved by one ulp of `dtype`, up or down at random."""
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
    """What another cast gives, in float32; modules are in float32 then."""

    cast: Cast

    def __call__(self, item: Input) -> Tensor:
        value = self.cast(item)
        return value.to(torch.float32) if item.follow else value


@dataclass(frozen=True, slots=True)
class Rounded:
    """What another cast gives, in the dtype of the input; modules are in the dtype of the case then."""

    cast: Cast

    def __call__(self, item: Input) -> Tensor:
        return self.cast(item).to(item.value.dtype)


# What is due of a case: the reference's outcomes in float64, and how far they may be missed.


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


# What the gradients of a case are due to be: by random cotangents, in float64, with the slack that rounding needs.


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


# Ask an answer for the properties that a case demands of its results.


class Broken(NamedTuple):
    """A complaint. `of_values`: it speaks of the values of this very case; a complaint about calls holds for simpler
    values too. `digits_only`: float64's digits are all that is missing.
    """

    message: Localised
    of_values: bool
    digits_only: bool


def broken_properties(case: Case, got: Observed) -> Iterator[Broken]:
    """Yield the complaints about an answer, in the order of the properties."""
    questions = [(partial(holds, got.outcomes), True) for holds in case.properties]
    questions += [(partial(holds, got.calls[k], got.outcomes), False) for k, holds in case.watched.items()]
    for question, of_values in questions:
        yield from _complaint(question, of_values)


def broken_gradient_properties(case: Case, got: Observed) -> Iterator[Broken]:
    """Yield the complaints about the gradients of random results."""
    for holds in case.gradient_properties:
        yield from _complaint(partial(holds, got.outcomes, got.gradients), True)


def _complaint(question: Callable[[], Complaint | None], of_values: bool) -> Iterator[Broken]:
    """Yield what a property finds to be wrong. It is written for results of the form that was asked for: an error that
    it raises at others says that they have not that form."""
    try:
        complaint = question()
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        message = say("other-form-of-result", error=f"{type(error).__name__}: {str(error)[:300]}")
        yield Broken(message, of_values, digits_only=False)
        return
    if complaint is None:
        return
    said = Localised(*complaint)
    digits_only = isinstance(complaint, DigitsLost)
    yield Broken(say("digits-lost", fault=said) if digits_only else said, of_values, digits_only)
