"""The reference run on a case in this process: in float64, in the dtypes of the inputs, or on inputs that are moved.

What is due in float64, and how far it may be missed, is computed on the CPU whatever device is graded on: it is the
truth of the case, and a GPU rounds no better. What a submission is compared with as given (its dtypes, what these can
hold, what it may cost, where its results lie) comes from a run on the device of the grading: `run_natively`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attncli.judge.case import Case, Input
from attncli.judge.compare import leaves
from attncli.sandbox import placement
from attncli.sandbox.expression_function import ExpressionFunction
from attncli.sandbox.interpreter import execute, gradients
from attncli.sandbox.program_watch import Step
from attncli.sandbox.tensor_walk import with_each
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
    placement.seed_all(device, case.seed)
    with placement.beside(device, case.default_device):
        returned = _Returned(case.steps, as_in_worker)
        run = execute(namespace, case.steps, environment, after=returned.note, costs=costs)
    as_returned = cotangents is None or as_in_worker
    outcomes = returned.of(run.outcomes) if as_returned else run.outcomes
    observed = Observed(outcomes, environment.shared, calls=calls, costs=run.costs)
    if cotangents is not None:
        vectors = cotangents(run.outcomes) if callable(cotangents) else cotangents
        sent = _sent(vectors, device) if device in placement.AWAY else vectors
        with placement.beside(device):
            observed.gradients = gradients(run, environment, leaf_indices, sent)
    return observed


def _inputs(case: Case, cast: Cast, device: str) -> list[Tensor]:
    tensors = [cast(item) for item in case.inputs]
    if device in placement.AWAY:
        return [placement.placed(tensor, device) for tensor in tensors]
    return tensors if device == "cpu" else [tensor.to(device) for tensor in tensors]


def _environment(case: Case, cast: Cast, tensors: Sequence[Tensor], device: str) -> tuple[Environment, list[list[Any]]]:
    """What the references in the trees of a case stand for, and the list in which its callables note their calls."""
    functions, calls = logged(case.callables)
    if device in placement.AWAY:
        beside = [isinstance(function, ExpressionFunction) for function in case.callables]
        functions = [f if here else placement.across(f, device) for f, here in zip(functions, beside, strict=True)]
    generators = [placement.generator(device, seed) for seed in case.generators]
    environment = Environment(tensors, functions, generators)
    environment.device = device
    environment.module_dtype = _module_dtype(case, cast)
    environment.module_device = placement.torch_name(device)
    environment.shared = [resolve(tree, environment) for tree in case.shared]
    return environment, calls


def _sent(vectors: Cotangents, device: str) -> Cotangents:
    return [(step, path, placement.placed(vector, device)) for step, path, vector in vectors]


def run_natively(namespace: Namespace, case: Case, cast: Cast, **asked: Any) -> Observed:
    """The program on the device of the grading, with its tensors brought home and told where they lay."""
    if case.profile.device not in placement.AWAY:
        return run_reference(namespace, case, cast, **asked)
    there = run_reference(namespace, case, cast, device=case.profile.device, **asked)
    lies = {path: placement.place_of(part) for path, part in leaves(there.whole()) if isinstance(part, Tensor)}
    outcomes, shared = placement.brought_home(there.outcomes), placement.brought_home(there.shared)
    at_home = [placement.home(gradient) for gradient in there.gradients]
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
