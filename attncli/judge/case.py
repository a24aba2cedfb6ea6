"""Recording a case: what a challenge's `inputs.py` draws and calls, as a program of steps over a tensor table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attncli.judge.profiles import Profile, relayout
from attncli.sandbox.values import Packer, Tree

Draw = Callable[[str, int, int], int]
# What a property finds to be wrong, in English and in Chinese.
Complaint = tuple[str, str]
CallsHold = Callable[[list[Any], list[Any]], Complaint | None]


@dataclass(slots=True)
class Input:
    """One tensor of a case: `grad` asks for its gradient, `follow` lets the judge evaluate it in float64.

    `composed`: its values obey laws that the challenge alone knows (a row of probabilities): they are not made simpler.
    """

    value: Tensor
    grad: bool
    follow: bool
    composed: bool = False


@dataclass(slots=True)
class Case:
    """A program and everything it needs; `sizes` are the numbers drawn for it, small ones first when shrinking."""

    profile: Profile
    steps: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    generators: list[int] = field(default_factory=list)
    callables: list[Callable[..., Any]] = field(default_factory=list)
    shared: list[Tree] = field(default_factory=list)
    ignored: set[int] = field(default_factory=set)
    exact: set[int] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)
    watched: dict[int, CallsHold] = field(default_factory=dict)
    dtypes: dict[tuple[Any, ...], frozenset[torch.dtype]] = field(default_factory=dict)
    properties: list[Callable[[list[Any]], Complaint | None]] = field(default_factory=list)
    gradient_properties: list[Callable[[list[Any], list[Tensor]], Complaint | None]] = field(default_factory=list)
    default_device: bool = False
    sizes: list[int] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    seed: int = 0
    label: str = ""

    @property
    def weight(self) -> tuple[int, int, int]:
        """How large it looks to a reader: elements, then steps, then the numbers drawn."""
        return sum(i.value.numel() for i in self.inputs), len(self.steps), sum(self.sizes)

    @property
    def differentiates(self) -> bool:
        """Whether the program runs a backward pass of its own, and so cannot do without autograd."""
        return any(step.get("name") == "backward" for step in self.steps)

    @property
    def tallies(self) -> bool:
        """Whether a step is repeated hundreds of times to count its results."""
        return any("times" in step for step in self.steps)

    def with_values(self, values: Sequence[Tensor]) -> Case:
        inputs = [replace(i, value=v) for v, i in zip(values, self.inputs, strict=True)]
        return replace(self, inputs=inputs)


class Handle:
    """Stands for the result of a recorded call; `handle[1]` or `handle["k"]` for a part of it."""

    def __init__(self, step: int, path: tuple[Any, ...] = ()) -> None:
        self.step = step
        self.path = path

    def __getitem__(self, key: Any) -> Handle:
        return Handle(self.step, (*self.path, key))

    def __iter__(self) -> Any:
        raise TypeError("a Handle has no length: take its parts by index, h[0], h[1]")


class Shared:
    """A mutable object that lives in the learner's process over the calls of one case."""

    def __init__(self, index: int) -> None:
        self.index = index


class Generator:
    """A `torch.Generator` made in the learner's process from a seed."""

    def __init__(self, index: int) -> None:
        self.index = index


class Callback:
    """A callable that stays in the judge; the learner's code gets a proxy."""

    def __init__(self, index: int) -> None:
        self.index = index


class Recorder:
    """The `make` of an `inputs.py`: draws sizes, makes tensors in the profile's dtype and layout, records calls."""

    def __init__(self, draw: Draw, profile: Profile, stream: int = 0, label: str = "") -> None:
        self.case = Case(profile, label=label)
        self._ask = draw
        self._stream = stream
        self._random: torch.Generator | None = None
        self._fixed: dict[int, Tensor] = {}
        self._composed: dict[int, Tensor] = {}
        self._special: dict[int, Any] = {}
        self._packer = Packer(self._pack_special)
        self._owners: dict[int, str] = {}

    @property
    def profile(self) -> str:
        return self.case.profile.name

    @property
    def dtype(self) -> torch.dtype:
        return self.case.profile.dtype

    @property
    def device(self) -> torch.device:
        return torch.device(self.case.profile.device)

    # Drawing

    def _draw(self, kind: str, low: int, high: int) -> int:
        value = self._ask(kind, low, high)
        self.case.draws.append(value)
        return value

    def size(self, low: int, high: int) -> int:
        value = self._draw("size", low, high)
        self.case.sizes.append(value)
        return value

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self._draw("pick", 0, len(choices) - 1)]

    def flag(self) -> bool:
        return bool(self._draw("flag", 0, 1))

    @property
    def random(self) -> torch.Generator:
        """The case's own random stream: a small drawn seed over the judge's stream number."""
        if self._random is None:
            self.case.seed = self._stream * 1_000_003 + self._draw("seed", 0, 7)
            self._random = torch.Generator().manual_seed(self.case.seed)
        return self._random

    def real(self, low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand((), generator=self.random, dtype=torch.float64))

    # Tensors

    def normal(self, *shape: int, scale: float = 1.0, mean: float = 0.0, grad: bool = True) -> Tensor:
        base = torch.randn(shape, generator=self.random, dtype=torch.float64) * scale + mean
        return self._floating(base, grad)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, grad: bool = True) -> Tensor:
        base = torch.rand(shape, generator=self.random, dtype=torch.float64) * (high - low) + low
        return self._floating(base, grad)

    def spread(self, *shape: int, grad: bool = True) -> Tensor:
        """Distinct values, each pair at least 0.1 apart, in random places."""
        count = int(torch.Size(shape).numel())
        order = torch.randperm(count, generator=self.random).to(torch.float64)
        return self._floating((order * 0.2 - 0.1 * count + 0.05).reshape(shape), grad)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.random)

    def mask(self, *shape: int, keep: float = 0.7) -> Tensor:
        mask = torch.rand(shape, generator=self.random) < keep
        if len(shape) >= 2 and float(torch.rand((), generator=self.random)) < 0.25:
            flat = mask.view(-1, shape[-1])
            flat[int(torch.randint(0, flat.shape[0], (), generator=self.random))] = False
        return mask

    def keep(self, tensor: Tensor, grad: bool = False, dtype: str = "follow") -> Tensor:
        """A tensor computed by the caller; "follow" takes the profile's dtype, "fixed" keeps its own."""
        follows = dtype == "follow" and tensor.is_floating_point()
        kept = tensor.detach().to(self.dtype if follows else tensor.dtype, copy=True)
        self._composed[id(kept)] = kept
        if not follows:
            self._fixed[id(kept)] = kept
        return kept.requires_grad_(grad) if tensor.is_floating_point() else kept

    def _floating(self, base: Tensor, grad: bool) -> Tensor:
        profile = self.case.profile
        value = (base * profile.gain + profile.offset).to(profile.dtype)
        if profile.layout == "strided" and value.dim() >= 3 and value.shape[0] > 1 and self.real(0, 1) < 0.3:
            value = value[:1].expand(value.shape)
        return value.requires_grad_(grad)

    # Recording

    def default_device(self) -> None:
        """Where another device is tried, it is torch's default in this case: `device=None` stands for it."""
        self.case.default_device = True

    def call(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "call", "name": name}, args, kwargs)

    def raises(self, error: type[BaseException], name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "call", "name": name, "raises": error.__name__}, args, kwargs)

    def method_raises(self, error: type[BaseException], owner: Handle, name: str, *args: Any, **kwargs: Any) -> Handle:
        step = {"op": "method", "object": self._pack(owner), "name": name, "raises": error.__name__}
        return self._step(step, args, kwargs)

    def new(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        handle = self._step({"op": "new", "name": name}, args, kwargs)
        self._owners[handle.step] = name
        self.compare(handle, False)
        return handle

    def method(self, owner: Handle, name: str, *args: Any, **kwargs: Any) -> Handle:
        return self._step({"op": "method", "object": self._pack(owner), "name": name}, args, kwargs)

    def set(self, owner: Handle, values: Mapping[str, Tensor]) -> Handle:
        trees = {name: self._pack(value) for name, value in values.items()}
        leaves = {name: tree[1] for name, tree in trees.items() if self.case.inputs[tree[1]].grad}
        tree = ["d", [[["s", name], tree] for name, tree in trees.items()]]
        return self._record({"op": "set", "object": self._pack(owner), "args": [tree], "leaves": leaves})

    def read(self, owner: Handle, name: str) -> Handle:
        return self._step({"op": "read", "object": self._pack(owner), "name": name}, (), {})

    def train(self, owner: Handle, flag: bool = True) -> Handle:
        return self._step({"op": "train", "object": self._pack(owner)}, (flag,), {})

    def cast(self, owner: Handle, dtype: torch.dtype) -> Handle:
        """The module in another dtype than the case's; what is set from now on is rounded to it."""
        return self._step({"op": "cast", "object": self._pack(owner)}, (dtype,), {})

    def manual_seed(self, seed: int) -> Handle:
        """Torch's global generator begins anew here, as under `torch.manual_seed`."""
        return self._step({"op": "manual_seed"}, (seed,), {})

    def shared(self, value: Any) -> Shared:
        self.case.shared.append(self._pack(value))
        return Shared(len(self.case.shared) - 1)

    def generator(self, seed: int | None = None) -> Generator:
        self.case.generators.append(self._draw("seed", 0, 7) + 17 * self._stream if seed is None else seed)
        return Generator(len(self.case.generators) - 1)

    def callable(self, function: Callable[..., Any]) -> Callback:
        self.case.callables.append(function)
        return Callback(len(self.case.callables) - 1)

    def count(self, callback: Callback, holds: CallsHold | None = None) -> None:
        """Compares the calls made to this callable (number and argument shapes) with the reference's.

        Where more than one sequence of calls is sound, `holds(calls, outcomes)` says what is wrong with them, in
        English and in Chinese, or None.
        A call is the list of its arguments: the shape of a tensor, the type's name of anything else.
        """
        if holds is None:
            self.case.counted.add(callback.index)
        else:
            self.case.watched[callback.index] = holds

    def property(self, holds: Callable[[list[Any]], Complaint | None]) -> None:
        """`holds(outcomes)` gets every step's outcome and returns what is wrong, in English and Chinese, or None."""
        self.case.properties.append(holds)

    def gradient_property(self, holds: Callable[[list[Any], list[Tensor]], Complaint | None]) -> None:
        """`holds(outcomes, gradients)`: what is wrong with the gradients of the sum of all results that are not
        compared, one for each input that asks for one. For results that are random."""
        self.case.gradient_properties.append(holds)

    def dtypes(self, handle: Handle, *allowed: torch.dtype) -> None:
        """This part of a result may also come in these dtypes; it is then compared as such."""
        self.case.dtypes[(handle.step, *handle.path)] = frozenset(allowed)

    def tally(self, times: int, name: str, *args: Any, **kwargs: Any) -> Handle:
        """Calls an entry that many times and counts its plain results: a dict from result to count, for a property."""
        handle = self._step({"op": "call", "name": name, "times": times}, args, kwargs)
        self.compare(handle, False)
        return handle

    def exact(self, handle: Handle) -> Handle:
        """Every bit of this result counts, the sign of a zero too."""
        self.case.exact.add(handle.step)
        return handle

    def compare(self, handle: Handle, flag: bool) -> None:
        (self.case.ignored.discard if flag else self.case.ignored.add)(handle.step)

    def _step(self, step: dict[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Handle:
        trees = [self._pack(value) for value in args]
        named = {name: self._pack(value) for name, value in kwargs.items()}
        return self._record({**step, "args": trees, "kwargs": named})

    def _record(self, step: dict[str, Any]) -> Handle:
        self.case.steps.append(step)
        return Handle(len(self.case.steps) - 1)

    def _pack(self, value: Any) -> Tree:
        tree = self._packer.pack(value)
        for tensor in self._packer.tensors[len(self.case.inputs) :]:
            self.case.inputs.append(self._input(tensor))
        return tree

    def _input(self, tensor: Tensor) -> Input:
        fixed = id(tensor) in self._fixed
        value = tensor.detach()
        if self.case.profile.layout == "strided":
            value = relayout(value, len(self.case.inputs) + sum(self.case.draws))
        else:
            value = value.contiguous()
        follow = not fixed and value.is_floating_point()
        return Input(value, tensor.requires_grad, follow, id(tensor) in self._composed)

    def _pack_special(self, value: Any) -> Tree | None:
        if isinstance(value, Handle):
            return ["r", value.step, list(value.path)]
        if isinstance(value, Shared):
            return ["m", value.index]
        if isinstance(value, Generator):
            return ["g", value.index]
        if isinstance(value, Callback):
            return ["c", value.index]
        if isinstance(value, torch.device) and self.case.profile.device == "meta":
            return ["dv", "meta"]
        return None
