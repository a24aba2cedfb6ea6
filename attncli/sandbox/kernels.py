"""Triton kernels in a worker: how their loads and stores are looked at first, and what fresh memory is filled with.

What is replaced of the interpreter are its public hooks and four methods of its builder; where one of those is gone the
accesses it carries out are not looked at. This stops mistakes, not adversaries: the learner's code runs beside it.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from torch.utils import _python_dispatch

from . import grants, tracing
from .kernel_memory import LaunchMemory
from .kernel_pace import quicken
from .kernel_reach import grid_of, refuse_outsiders

_MAKERS = ((torch, "empty"), (torch, "empty_like"), (torch, "empty_strided"), (Tensor, "new_empty"))


class _Present:
    """The launch that is going on in this process: kernels run one after the other."""

    memory: LaunchMemory | None = None
    prepared = False


def prepare(interpreted: bool = True) -> None:
    """Make Triton importable, in its interpreter, and watch it. Raises ImportError where it is not installed.

    Not `interpreted` it compiles for a GPU: then launches are counted, and what a kernel loads and stores is not seen.
    """
    if _Present.prepared:
        return
    os.environ["TRITON_INTERPRET"] = "1" if interpreted else "0"
    for finder in sys.meta_path:
        if hasattr(finder, "without"):
            finder.without = finder.without - grants.FOR_KERNELS
    if interpreted:
        _interpret()
    else:
        _count_launches(importlib.import_module("triton.runtime.jit"))
    _Present.prepared = True


def _interpret() -> None:
    interpreter = importlib.import_module("triton.runtime.interpreter")
    importlib.import_module("numpy").seterr(all="ignore")  # a GPU does not warn of exp(100) either
    with contextlib.suppress(AttributeError):
        importlib.import_module("triton.knobs").compilation.front_end_debugging = True
    quicken(interpreter)
    _watch_launches(interpreter)
    _watch_accesses(interpreter)
    for owner, name in _MAKERS:
        setattr(owner, name, _poisoned(getattr(owner, name)))


def _count_launches(jit: Any) -> None:
    """That a kernel was launched at all is asked of a compiled one, too."""
    function = getattr(jit, "JITFunction", None)
    if function is None:
        return
    run = function.run

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracing.Traffic.launches += 1
        with _unseen():
            return run(self, *args, **kwargs)

    function.run = counted


def _watch_launches(interpreter: Any) -> None:
    executor = getattr(interpreter, "GridExecutor", None)
    if executor is None:
        return
    launch = executor.__call__

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_outsiders(self.fn, [*args, *kwargs.values()])
        if callable(self.grid):
            self.grid = grid_of(self, args, kwargs)
        with _unseen():
            memory = LaunchMemory(_tensors_of(getattr(self, "arg_names", ()), args, kwargs))
            _Present.memory = memory
            try:
                placed = {name: _placed(value, memory) for name, value in kwargs.items()}
                return launch(self, *[_placed(value, memory) for value in args], **placed)
            finally:
                _Present.memory = None
                memory.take_back()
                tracing.Traffic.launches += 1
                tracing.Traffic.moved += memory.moved

    executor.__call__ = watched


def _tensors_of(names: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Tensor]:
    """The tensors that a kernel is launched with, by the names of its parameters."""
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return {str(name): tensor for name, value in given.items() for tensor in _tensors_in(value)}


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor) and value.device.type == "cpu":
        yield value.detach()
    elif _describes(value):
        yield value.base.detach()


def _placed(value: Any, memory: LaunchMemory) -> Any:
    if _describes(value):
        described = copy.copy(value)
        described.base = memory.placed(value.base.detach())
        return described
    return memory.placed(value.detach()) if isinstance(value, Tensor) and value.device.type == "cpu" else value


def _describes(value: Any) -> bool:
    """Whether this is one of Triton's descriptors, of a tensor that is loaded in blocks."""
    return hasattr(value, "block_shape") and isinstance(getattr(value, "base", None), Tensor)


@contextlib.contextmanager
def _unseen() -> Iterator[None]:
    """What torch does for the interpreter is none of the learner's calls."""
    with ExitStack() as stack:
        for owner, name in ((torch._C, "DisableTorchFunction"), (_python_dispatch, "_disable_current_modes")):
            if hasattr(owner, name):
                stack.enter_context(getattr(owner, name)())
        stack.enter_context(torch.no_grad())
        yield


def _watch_accesses(interpreter: Any) -> None:
    builder = getattr(interpreter, "InterpreterBuilder", None)
    places: dict[str, tuple[int, int | None]] = {
        "create_masked_load": (0, 1),
        "create_masked_store": (0, 2),
        "create_atomic_rmw": (1, 3),
        "create_atomic_cas": (0, None),
    }
    for name, (pointers, mask) in places.items():
        if (method := getattr(builder, name, None)) is not None:
            setattr(builder, name, _looked_at(method, name, pointers, mask))


def _looked_at(method: Callable[..., Any], name: str, pointers: int, mask: int | None) -> Callable[..., Any]:
    def access(self: Any, *args: Any, **kwargs: Any) -> Any:
        memory = _Present.memory
        if memory is not None:
            shown = args[pointers].data
            shown = shown[_lanes(args[mask])] if mask is not None else shown.reshape(-1)
            size = max(1, args[pointers].get_element_ty().primitive_bitwidth // 8)
            look = {"create_masked_load": memory.load, "create_masked_store": memory.store}.get(name, memory.add)
            if shown.size:
                look(torch.frombuffer(shown.astype("int64"), dtype=torch.int64), size, _program(self))
        return method(self, *args, **kwargs)

    return access


def _lanes(mask: Any) -> Any:
    """The lanes of an access that count; block pointers and descriptors hand over a bare array."""
    return (mask if hasattr(mask, "astype") else mask.data).astype(bool)


def _program(builder: Any) -> int:
    """The number of the running program, as the grid is walked."""
    x, y, z = builder.grid_idx
    _, height, depth = builder.grid_dim
    return int((x * height + y) * depth + z)


def _poisoned(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Memory that nobody has written to holds what no right result does."""

    def made(*args: Any, **kwargs: Any) -> Tensor:
        tensor = make(*args, **kwargs)
        if _Present.memory is None:
            with _unseen():
                _poison(tensor)
        return tensor

    made.__name__ = getattr(make, "__name__", "empty")
    return made


def _poison(tensor: Tensor) -> None:
    if tensor.device.type != "cpu":
        return
    if tensor.is_floating_point():
        tensor.detach().fill_(float("nan"))
    elif tensor.dtype != torch.bool and not tensor.is_complex():
        tensor.detach().fill_(torch.iinfo(tensor.dtype).max)
