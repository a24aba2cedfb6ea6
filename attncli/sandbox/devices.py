"""The devices of a grading: "cpu", "cuda", and "elsewhere", a stand-in for a GPU on machines without one.

Only bytes in CPU memory cross between processes: inputs are placed on the device before a program starts, and results
are copied back after it, each with the name of its device. Tests rehearse a GPU on "elsewhere"; no command can select
it. Its tensors say `meta` and keep their values in this process's memory: torch's own meta tensors have none, so
`nonzero`, `item` or an `if` cannot run on them. Operations first check that all operands are on one device.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from .policy import AMD_GPUS, GPUS, gpu_is_seen

CPU, CUDA, ELSEWHERE = "cpu", "cuda", "elsewhere"
AWAY = (CUDA, ELSEWHERE)

NAME = "meta"
MET = f"beside one on {NAME}"
aten = torch.ops.aten
# These take operands of two devices.
_CROSSING = frozenset({aten.copy_, aten._to_copy, aten.lift_fresh, aten.detach})
_INDEXING = frozenset({aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_, aten._unsafe_index})

# Nesting of values that cross between processes; deeper parts are ignored.
MAX_DEPTH = 16


def backward_starts_gpu() -> bool:
    """Return True if the first backward pass asks for GPUs and starts a thread for each, which no fork survives."""
    return torch.backends.cuda.is_built() and gpu_is_seen((*GPUS, *AMD_GPUS))


# Moving tensors between devices


def torch_name(device: str) -> str:
    """Return torch's name of a device."""
    return NAME if device == ELSEWHERE else device


def placed(tensor: Tensor, device: str) -> Tensor:
    """Copy a CPU tensor to the device, in the same memory layout."""
    if device == ELSEWHERE:
        return Elsewhere(tensor)
    if tensor.is_contiguous():
        return tensor.to(device)
    whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
    return whole.to(device).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def as_leaf(tensor: Tensor) -> Tensor:
    """Return the input as a leaf that requires its gradient."""
    return (tensor if type(tensor) is Elsewhere else tensor.detach()).requires_grad_()


def place_of(tensor: Tensor) -> str:
    """Return the name of a tensor's device."""
    return ELSEWHERE if type(tensor) is Elsewhere else tensor.device.type


def values_of(tensor: Tensor) -> Tensor:
    """Return the tensor that owns the memory: the inner one of an `Elsewhere`, else the tensor itself."""
    return tensor.held if type(tensor) is Elsewhere else tensor


def home(tensor: Tensor) -> Tensor:
    """Return the values of a tensor in CPU memory."""
    return values_of(tensor).detach().cpu()


def brought_home(value: Any) -> Any:
    """Copy the tensors in nested lists, tuples and dicts to the CPU; leave anything else as it is."""
    return with_each(value, home)


def beside(device: str, default: bool = False) -> AbstractContextManager[Any]:
    """Return the context in which a program runs on the device; `default` makes it torch's default device."""
    if device == ELSEWHERE:
        return two_devices(default)
    return torch.device(device) if default and device == CUDA else nullcontext()


def across(function: Callable[..., Any], device: str) -> Callable[..., Any]:
    """Wrap a function of the CPU so that it takes tensors of the device and returns its results there."""
    if device == ELSEWHERE:
        return _across_emulation(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        away = any(tensor.device.type == device for value in given for tensor in tensors_in(value))
        named = {name: brought_home(value) for name, value in kwargs.items()}
        result = function(*map(brought_home, args), **named)
        return with_each(result, lambda tensor: placed(tensor, device)) if away else result

    return call


# Random numbers and measurements


def generator(device: str, seed: int) -> torch.Generator:
    """Return a generator for draws on the device; for "elsewhere" it is one of the CPU, as are its values."""
    return torch.Generator(CUDA if device == CUDA else CPU).manual_seed(seed)


def seed_all(device: str, seed: int) -> None:
    """Seed torch's global generators: the CPU's, and the GPU's own."""
    torch.default_generator.manual_seed(seed)
    if device == CUDA:
        torch.cuda.manual_seed(seed)


def random_states(device: str) -> tuple[Tensor, ...]:
    """Return the states of torch's global generators."""
    state = torch.default_generator.get_state()
    return (state, torch.cuda.get_rng_state()) if device == CUDA else (state,)


def initial_seeds(device: str) -> tuple[int, ...]:
    """Return the last seeds of torch's global generators."""
    seed = torch.default_generator.initial_seed()
    return (seed, torch.cuda.initial_seed()) if device == CUDA else (seed,)


class DevicePeak:
    """Measures the peak of bytes that a GPU's allocator has handed out since creation, minus those allocated before."""

    def __init__(self) -> None:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self._before = self._statistic("current")

    def measure(self) -> int:
        torch.cuda.synchronize()
        return max(0, self._statistic("peak") - self._before)

    def _statistic(self, which: str) -> int:
        """Return the bytes requested, not the blocks of 512 bytes in which they are allocated."""
        statistics = torch.cuda.memory_stats()
        allocated = statistics.get(f"allocated_bytes.all.{which}", 0)
        return int(statistics.get(f"requested_bytes.all.{which}", allocated))


class DeviceClock:
    """Measures a block's work on a device in microseconds, by CUDA events or else by the CPU's clock.

    Work on other streams counts: the device is synchronised before the end is recorded.
    """

    def __init__(self, device: str) -> None:
        self._events = tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) if device == CUDA else None
        self._start = self._end = 0.0

    def __enter__(self) -> DeviceClock:
        if self._events is None:
            self._start = time.perf_counter()
        else:
            torch.cuda.synchronize()
            self._events[0].record()
        return self

    def __exit__(self, *_: object) -> None:
        if self._events is None:
            self._end = time.perf_counter()
        else:
            torch.cuda.synchronize()
            self._events[1].record()
            self._events[1].synchronize()

    def microseconds(self) -> int:
        """Return the duration of the block that has ended."""
        if self._events is None:
            return int(1_000_000 * (self._end - self._start))
        return int(1000 * self._events[0].elapsed_time(self._events[1]))


# The emulated device


class OperationMode(TorchDispatchMode):
    """Pass every operation below autograd to `carry_out` while it is active."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise torch imports all of its compiler (seconds) at the first operation seen.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self.carry_out(func, args, kwargs or {})

    @abstractmethod
    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...


class Elsewhere(Tensor):
    """A tensor on the emulated device; `held` has its values."""

    held: Tensor

    @staticmethod
    def __new__(cls, values: Tensor) -> Elsewhere:
        made: Elsewhere = Tensor._make_wrapper_subclass(
            cls,
            values.size(),
            strides=values.stride(),
            storage_offset=values.storage_offset(),
            dtype=values.dtype,
            device=torch.device(NAME),
        )
        made.held = values
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _carry_out(func, args, kwargs or {})

    @property
    def data(self) -> Any:
        return Elsewhere(self.held)

    @data.setter
    def data(self, other: Tensor) -> None:
        """Replace the values too, as when a module moves to another dtype."""
        Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self.held = other.held if type(other) is Elsewhere else other

    def tolist(self) -> Any:
        return self.held.tolist()


@contextmanager
def two_devices(default: bool = False) -> Iterator[None]:
    """Emulate a second device, named "meta". An operation on two devices raises a RuntimeError that contains `MET`.

    `default` makes it the default device, as `torch.set_default_device` does.
    """
    with _Operations(), _Literals(), torch.device(NAME) if default else nullcontext():
        yield


class _Operations(OperationMode):
    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _carry_out(func, args, kwargs)


class _Literals(TorchFunctionMode):
    """Keep the values of literals: torch drops those of a list that becomes a meta tensor, also as an index."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func is Tensor.new_tensor and isinstance(args[0], Elsewhere) and kwargs.get("device") is None:
            return Elsewhere(args[0].held.new_tensor(*args[1:], **kwargs))
        if func in _INDEXED and isinstance(args[0], Elsewhere):
            return func(args[0], _index_tensors(args[1]), *args[2:])
        device = kwargs.get("device")
        if func in _FROM_LITERALS and device is not None and torch.device(device).type == NAME:
            made = func(*args, **{**kwargs, "device": None})
            return made if isinstance(made, Elsewhere) else Elsewhere(made)
        return func(*args, **kwargs)


_FROM_LITERALS = (torch.tensor, torch.as_tensor, torch.asarray)
_INDEXED = (Tensor.__getitem__, Tensor.__setitem__)


def _index_tensors(index: Any) -> Any:
    """Return an index whose lists of numbers are tensors of the emulated device."""
    if isinstance(index, tuple):
        return tuple(_index_tensors(part) for part in index)
    return Elsewhere(torch.tensor(index, device="cpu")) if isinstance(index, list) else index


def _carry_out(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    operands: list[Tensor] = []
    inside = [_unwrap(item, operands) for item in args]
    named = {name: _unwrap(item, operands) for name, item in kwargs.items()}
    away = on_cpu = False
    for item in operands:
        if type(item) is Elsewhere:
            away = True
        elif item.dim():
            on_cpu = True
    if away and on_cpu:
        _check_devices(func, args, operands)
    device = kwargs.get("device")
    if device is not None:
        away = torch.device(device).type == NAME
        named["device"] = "cpu"
    outer = {id(item.held if type(item) is Elsewhere else item): item for item in operands}
    result = func(*inside, **named)
    if torch.Tag.inplace_view in func.tags and type(args[0]) is Elsewhere:
        with no_dispatch():  # `squeeze_` and its like change the shape of the wrapper too
            func(*args, **kwargs)
    return _wrap(result, outer, away)


def _unwrap(item: Any, operands: list[Tensor]) -> Any:
    """Replace each `Elsewhere` in an operand by its values; append every tensor met to `operands`."""
    if isinstance(item, Tensor):
        operands.append(item)
        return item.held if type(item) is Elsewhere else item
    if type(item) is dict:
        return {key: _unwrap(part, operands) for key, part in item.items()}
    return type(item)(_unwrap(part, operands) for part in item) if type(item) in (list, tuple) else item


def _wrap(item: Any, outer: dict[int, Tensor], away: bool) -> Any:
    """Return an operand that was written to as itself, and put new tensors on the operands' device."""
    if type(item) in (list, tuple):
        return type(item)(_wrap(part, outer, away) for part in item)
    if type(item) is dict:
        return {key: _wrap(part, outer, away) for key, part in item.items()}
    if not isinstance(item, Tensor):
        return item
    if id(item) in outer:
        return outer[id(item)]
    return Elsewhere(item) if away else item


def _check_devices(func: Any, args: tuple[Any, ...], operands: list[Tensor]) -> None:
    """Raise RuntimeError if the operation does not take operands of two devices."""
    packet = func._overloadpacket
    if packet in _CROSSING:
        return
    if packet in _INDEXING:  # the index may be on the CPU
        operands = [item for item in (args[0], *args[2:]) if isinstance(item, Tensor)]
    if any(item.dim() > 0 and type(item) is not Elsewhere for item in operands):
        raise RuntimeError(f"{packet.__name__} got a tensor on cpu {MET}: make tensors with device=x.device")


def _across_emulation(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function as `across` does, without calls of torch, which a `CallTrace` would count as the learner's."""

    def call(*args: Any, **kwargs: Any) -> Any:
        operands: list[Tensor] = []
        inside = _unwrap([list(args), list(kwargs.values())], operands)
        result = function(*inside[0], **dict(zip(kwargs, inside[1], strict=True)))
        return _wrap(result, {}, any(type(item) is Elsewhere for item in operands))

    return call


# Tensors in nested values


class Walk:
    """An iterator as a value: it yields its parts once."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self._left = iter(parts)

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Any:
        return next(self._left)


def tensors_in(value: Any, depth: int = 0) -> Iterator[Tensor]:
    """Yield every tensor in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif depth <= MAX_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth + 1)
    elif depth <= MAX_DEPTH and isinstance(value, (dict, Walk)):
        for item in value.values() if isinstance(value, dict) else value.parts:
            yield from tensors_in(item, depth + 1)


def with_each(value: Any, change: Callable[[Tensor], Tensor], depth: int = 0) -> Any:
    """Apply `change` to each tensor in nested lists, tuples and dicts; leave anything else as it is."""
    if isinstance(value, Tensor):
        return change(value)
    if depth <= MAX_DEPTH and type(value) in (list, tuple):
        return type(value)(with_each(part, change, depth + 1) for part in value)
    if depth <= MAX_DEPTH and type(value) is dict:
        return {key: with_each(part, change, depth + 1) for key, part in value.items()}
    return value
