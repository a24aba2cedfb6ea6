"""A device that is not there: tensors that say `meta` and yet hold their values in this process's memory.

Torch's own meta tensors hold no values, so whatever looks at one (`nonzero`, `item`, an `if`) cannot run on them. These
can: every operation is carried out on the values inside, after a look whether all operands are on the same device.
"""

from __future__ import annotations

import ctypes
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

# Where the tensors of a program lie: on the CPU, on a GPU ("cuda"), or on a device that is not there ("elsewhere").
#
# What crosses between processes are always bytes of the CPU: inputs are placed on the device before a program begins,
# and results come home behind it, each with the device that it lay on. "elsewhere" is the stand-in by which tests
# rehearse what a GPU will do; it goes through the same functions as "cuda" does, and no command can ask for it.

CPU, CUDA, ELSEWHERE = "cpu", "cuda", "elsewhere"
# The devices that a grading may have besides the CPU.
AWAY = (CUDA, ELSEWHERE)


def torch_name(device: str) -> str:
    """What torch calls a device of this name."""
    return NAME if device == ELSEWHERE else device


def placed(tensor: Tensor, device: str) -> Tensor:
    """A tensor of the CPU on the device, in the same memory layout."""
    if device == ELSEWHERE:
        return Elsewhere(tensor)
    if tensor.is_contiguous():
        return tensor.to(device)
    whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
    return whole.to(device).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def as_leaf(tensor: Tensor) -> Tensor:
    """An input that asks for its gradient."""
    return (tensor if type(tensor) is Elsewhere else tensor.detach()).requires_grad_()


def values_of(tensor: Tensor) -> Tensor:
    """The tensor that has the memory: of one that is elsewhere the one inside."""
    return tensor.held if type(tensor) is Elsewhere else tensor


def home(tensor: Tensor) -> Tensor:
    """The values of a tensor in memory of the CPU."""
    return values_of(tensor).detach().cpu()


def place_of(tensor: Tensor) -> str:
    """The device that a tensor lies on, by its name here."""
    return ELSEWHERE if type(tensor) is Elsewhere else tensor.device.type


def brought_home(value: Any) -> Any:
    """A result with the tensors in nested lists, tuples and dicts on the CPU; anything else as it is."""
    return with_each(value, home)


def raw_bytes(tensor: Tensor) -> bytes:
    """The bytes of a tensor that lies on another device."""
    tensor = home(tensor).contiguous().resolve_conj().resolve_neg()
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def beside(device: str, default: bool = False) -> AbstractContextManager[Any]:
    """What has to be in force while a program runs there; with `default` it is torch's default device meanwhile."""
    if device == ELSEWHERE:
        return two_devices(default)
    return torch.device(device) if default and device == CUDA else nullcontext()


def across(function: Callable[..., Any], device: str) -> Callable[..., Any]:
    """A function of the CPU as it is called with tensors of the device: its results are where its arguments were."""
    if device == ELSEWHERE:
        return across_emulation(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        away = any(tensor.device.type == device for value in given for tensor in tensors_in(value))
        named = {name: brought_home(value) for name, value in kwargs.items()}
        result = function(*map(brought_home, args), **named)
        return with_each(result, lambda tensor: placed(tensor, device)) if away else result

    return call


def generator(device: str, seed: int) -> torch.Generator:
    """A generator for draws there. That of the device that is not there is one of the CPU, as are its values."""
    return torch.Generator(CUDA if device == CUDA else CPU).manual_seed(seed)


def seed_all(device: str, seed: int) -> None:
    """Begins torch's global generators anew: that of the CPU, and of a GPU its own."""
    torch.default_generator.manual_seed(seed)
    if device == CUDA:
        torch.cuda.manual_seed(seed)


def random_states(device: str) -> tuple[Tensor, ...]:
    """The states of torch's global generators."""
    state = torch.default_generator.get_state()
    return (state, torch.cuda.get_rng_state()) if device == CUDA else (state,)


def initial_seeds(device: str) -> tuple[int, ...]:
    """What torch's global generators were last seeded with."""
    seed = torch.default_generator.initial_seed()
    return (seed, torch.cuda.initial_seed()) if device == CUDA else (seed,)


class DevicePeak:
    """How many bytes a GPU's allocator has handed out at most since this began, besides those held before."""

    def __init__(self) -> None:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self._before = self._figure("current")

    def measure(self) -> int:
        torch.cuda.synchronize()
        return max(0, self._figure("peak") - self._before)

    def _figure(self, which: str) -> int:
        """What was asked for, not the blocks of 512 bytes in which it is given out."""
        found = torch.cuda.memory_stats()
        allocated = found.get(f"allocated_bytes.all.{which}", 0)
        return int(found.get(f"requested_bytes.all.{which}", allocated))


class DeviceClock:
    """The microseconds from the first to the last of the work that a block has put on a device, by its own events.

    Work left to another stream counts: the device is waited for before the end is noted. The device that is not there
    works on the CPU, and has the clock of the CPU.
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
        """Of the block that has ended."""
        if self._events is None:
            return int(1_000_000 * (self._end - self._start))
        return int(1000 * self._events[0].elapsed_time(self._events[1]))


# A look at each operation that torch carries out, below autograd.


class OperationMode(TorchDispatchMode):
    """While it is active, subclasses say what comes of an operation."""

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


NAME = "meta"
MET = f"beside one on {NAME}"
aten = torch.ops.aten
# These take operands of two devices; an index may be on the CPU, what it indexes may not.
_CROSSING = frozenset({aten.copy_, aten._to_copy, aten.lift_fresh, aten.detach})
_INDEXING = frozenset({aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_, aten._unsafe_index})


class Elsewhere(Tensor):
    """A tensor of the device that is not there; `held` are its values."""

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
        """As a module does that is moved to another dtype: the values go with the form."""
        Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self.held = other.held if type(other) is Elsewhere else other

    def tolist(self) -> Any:
        return self.held.tolist()


def across_emulation(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the other side that gets the values inside, and whose results are where its arguments were."""

    def call(*args: Any, **kwargs: Any) -> Any:
        operands: list[Tensor] = []
        inside = _inside([list(args), list(kwargs.values())], operands)
        result = function(*inside[0], **dict(zip(kwargs, inside[1], strict=True)))
        away = any(type(item) is Elsewhere for item in operands)
        return _placed(result, {}, away)

    return call


@contextmanager
def two_devices(default: bool = False) -> Iterator[None]:
    """Tensors are made where `device="meta"` asks for them; where two devices meet a RuntimeError says `MET`.

    With `default` that is where they are made unless they say otherwise, as under `torch.set_default_device`.
    """
    with _Operations(), _Literals(), torch.device(NAME) if default else nullcontext():
        yield


class _Literals(TorchFunctionMode):
    """Torch would drop the values of a list that becomes a meta tensor, also where it is an index."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func is Tensor.new_tensor and isinstance(args[0], Elsewhere) and kwargs.get("device") is None:
            return Elsewhere(args[0].held.new_tensor(*args[1:], **kwargs))
        if func in _AT_INDEX and isinstance(args[0], Elsewhere):
            return func(args[0], _with_tensors(args[1]), *args[2:])
        device = kwargs.get("device")
        if func in _FROM_DATA and device is not None and torch.device(device).type == NAME:
            made = func(*args, **{**kwargs, "device": None})
            return made if isinstance(made, Elsewhere) else Elsewhere(made)
        return func(*args, **kwargs)


_FROM_DATA = (torch.tensor, torch.as_tensor, torch.asarray)
_AT_INDEX = (Tensor.__getitem__, Tensor.__setitem__)


def _with_tensors(index: Any) -> Any:
    """An index whose lists of numbers are tensors over there."""
    if isinstance(index, tuple):
        return tuple(_with_tensors(part) for part in index)
    return Elsewhere(torch.tensor(index, device="cpu")) if isinstance(index, list) else index


class _Operations(OperationMode):
    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _carry_out(func, args, kwargs)


def _carry_out(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    operands: list[Tensor] = []
    inside = [_inside(item, operands) for item in args]
    named = {name: _inside(item, operands) for name, item in kwargs.items()}
    away = here = False
    for item in operands:
        if type(item) is Elsewhere:
            away = True
        elif item.dim():
            here = True
    if away and here:
        _look(func, args, operands)
    device = kwargs.get("device")
    if device is not None:
        away = torch.device(device).type == NAME
        named["device"] = "cpu"
    outer = {id(item.held if type(item) is Elsewhere else item): item for item in operands}
    result = func(*inside, **named)
    if torch.Tag.inplace_view in func.tags and type(args[0]) is Elsewhere:
        with no_dispatch():  # `squeeze_` and its like: the tensor around the values has another shape from now on
            func(*args, **kwargs)
    return _placed(result, outer, away)


def _inside(item: Any, operands: list[Tensor]) -> Any:
    """The operand with the values in place of what holds them; tensors met on the way are added to `operands`."""
    if isinstance(item, Tensor):
        operands.append(item)
        return item.held if type(item) is Elsewhere else item
    if type(item) is dict:
        return {key: _inside(part, operands) for key, part in item.items()}
    return type(item)(_inside(part, operands) for part in item) if type(item) in (list, tuple) else item


def _placed(item: Any, outer: dict[int, Tensor], away: bool) -> Any:
    """An operand that was written to comes back as itself; what is new goes where the operands were."""
    if type(item) in (list, tuple):
        return type(item)(_placed(part, outer, away) for part in item)
    if type(item) is dict:
        return {key: _placed(part, outer, away) for key, part in item.items()}
    if not isinstance(item, Tensor):
        return item
    if id(item) in outer:
        return outer[id(item)]
    return Elsewhere(item) if away else item


def _look(func: Any, args: tuple[Any, ...], operands: list[Tensor]) -> None:
    """Raises RuntimeError where an operation does not take operands of two devices."""
    packet = func._overloadpacket
    if packet in _CROSSING:
        return
    if packet in _INDEXING:
        operands = [item for item in (args[0], *args[2:]) if isinstance(item, Tensor)]
    if any(item.dim() > 0 and type(item) is not Elsewhere for item in operands):
        raise RuntimeError(f"{packet.__name__} got a tensor on cpu {MET}: make tensors with device=x.device")


# The tensors in nested values: what there is of them, and the same value with others in their places.

# How deeply values are nested that cross between processes; what lies deeper is not looked at.
MAX_DEPTH = 16


class Walk:
    """An iterator: its parts come one after the other, and only once."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self._left = iter(parts)

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Any:
        return next(self._left)


def tensors_in(value: Any, depth: int = 0) -> Iterable[Tensor]:
    """Every tensor in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif depth <= MAX_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth + 1)
    elif depth <= MAX_DEPTH and isinstance(value, (dict, Walk)):
        for item in value.values() if isinstance(value, dict) else value.parts:
            yield from tensors_in(item, depth + 1)


def with_each(value: Any, change: Callable[[Tensor], Tensor], depth: int = 0) -> Any:
    """The value with each tensor in nested lists, tuples and dicts changed; anything else as it is."""
    if isinstance(value, Tensor):
        return change(value)
    if depth <= MAX_DEPTH and type(value) in (list, tuple):
        return type(value)(with_each(part, change, depth + 1) for part in value)
    if depth <= MAX_DEPTH and type(value) is dict:
        return {key: with_each(part, change, depth + 1) for key, part in value.items()}
    return value
