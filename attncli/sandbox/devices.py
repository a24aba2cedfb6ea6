"""A device that is not there: tensors that say `meta` and yet hold their values in this process's memory.

Torch's own meta tensors hold no values, so whatever looks at one (`nonzero`, `item`, an `if`) cannot run on them. These
can: every operation is carried out on the values inside, after a look whether all operands are on the same device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._mode_utils import no_dispatch

from .operation_mode import OperationMode

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


def across(function: Callable[..., Any]) -> Callable[..., Any]:
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
