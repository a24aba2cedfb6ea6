"""Where the tensors of a program lie: on the CPU, on a GPU ("cuda"), or on a device that is not there ("elsewhere").

What crosses between processes are always bytes of the CPU: inputs are placed on the device before a program begins, and
results come home behind it, each with the device that it lay on. "elsewhere" is the stand-in by which tests rehearse
what a GPU will do; it goes through the same functions as "cuda" does, and no command can ask for it.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from . import devices
from .devices import Elsewhere, two_devices
from .tensor_walk import tensors_in, with_each

CPU, CUDA, ELSEWHERE = "cpu", "cuda", "elsewhere"
# The devices that a grading may have besides the CPU.
AWAY = (CUDA, ELSEWHERE)


def torch_name(device: str) -> str:
    """What torch calls a device of this name."""
    return devices.NAME if device == ELSEWHERE else device


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
        return devices.across(function)

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
