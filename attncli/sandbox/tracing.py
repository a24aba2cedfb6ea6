"""What the learner's code calls and what its work costs, seen from inside its process.

`CallTrace` records the torch functions called, as they were written, with the line in the learner's file.
`CostTrace` counts work (FLOPs of products, one unit for every element that any other operation produces or reduces),
the operations called, the largest storage made, and the peak of live bytes. Both stop mistakes and shortcuts, not
adversaries.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils.flop_counter import flop_registry

from .operation_mode import OperationMode
from .placement import values_of

aten = torch.ops.aten
_REDUCTIONS = frozenset(
    "sum mean amax amin max min var std var_mean std_mean norm linalg_vector_norm logsumexp prod argmax argmin".split()
)
# Stands among the calls where a kernel was launched.
LAUNCH = "triton.launch"
_SIXTEEN_BITS = (torch.float16, torch.bfloat16)


class Traffic:
    """What kernels have done in this process: how many were launched, how many bytes they loaded and stored."""

    launches = 0
    moved = 0


class CallTrace(TorchFunctionMode):
    """Every torch function called while active: (qualified name, line in `filename`); with `sizes` also how many
    elements the largest storage has that a call handed out, and how many at most of one repeat others in it.

    16-bit dtypes that results have are listed like calls, so that a challenge can forbid them; so is the function of
    torch's Python that the learner's line entered, and, with `BareOperations`, what is executed past them.
    """

    def __init__(self, filename: str, sizes: bool = False) -> None:
        super().__init__()
        self._filename = filename
        self._sizes = sizes
        self._seen: dict[tuple[str, int], None] = {}
        self.largest = 0
        self.repeated = 0
        self.makes = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        line, entered = self._place() or (0, "")
        self._seen[_name(func), line] = None
        self.makes = self.makes or _makes(result, args, kwargs)
        if self._sizes:
            owned = _owned(result, args)
            self.largest = max(self.largest, owned)
            if owned:
                self.repeated = max(self.repeated, _repeated(result))
        if isinstance(result, Tensor) and result.dtype in _SIXTEEN_BITS:
            self._seen[str(result.dtype), line] = None
        if entered and line:
            self._seen[entered, line] = None
        return result

    def note(self, operation: Any, result: Any) -> None:
        """Lists an operation, unless a function of torch that is listed has asked for it."""
        place = self._place(until=CallTrace.__torch_function__.__code__)
        if place is not None:
            self._seen[_name(operation), place[0]] = None
            if isinstance(result, Tensor) and result.dtype in _SIXTEEN_BITS:
                self._seen[str(result.dtype), place[0]] = None

    def _place(self, until: CodeType | None = None) -> tuple[int, str] | None:
        """The line of the learner's file that is running, and the function of torch that it called; None where `until`
        has asked for it."""
        frame: FrameType | None = sys._getframe(2)
        below: FrameType | None = None
        while frame is not None:
            if frame.f_code is until:
                return None
            if frame.f_code.co_filename == self._filename:
                return frame.f_lineno, _public(below)
            below, frame = frame, frame.f_back
        return 0, ""

    def seen(self) -> list[list[Any]]:
        return [[name, line] for name, line in self._seen][:500]


def _public(frame: FrameType | None) -> str:
    """The qualified name of a function of torch's public Python, else nothing."""
    module = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    if frame is None or not module.startswith("torch.") or module.startswith(("torch._", "torch.utils")):
        return ""
    return f"{module}.{frame.f_code.co_qualname}"[:120]


class BareOperations(OperationMode):
    """Shows a `CallTrace` the operations that no Python function of torch has asked for, also where calls of those
    were made invisible to it."""

    def __init__(self, trace: CallTrace) -> None:
        super().__init__()
        self._trace = trace

    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        self._trace.note(func, result)
        return result


_names: dict[Any, str] = {}


def _name(func: Any) -> str:
    """The qualified name; looking it up takes longer than most calls."""
    name = _names.get(func)
    if name is None:
        name = str(resolve_name(func) or getattr(func, "__name__", func))
        if name.startswith("aten."):
            name = name.rsplit(".", 1)[0]  # without the overload
        name = _names[func] = name[:120]
    return name


def _makes(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """Whether a call chose a device: it made a tensor out of none, or was told where to put one."""
    if not isinstance(result, Tensor):
        return False
    if not any(isinstance(part, (Tensor, list, tuple)) for part in args) and not kwargs:
        return True
    given = [*args, *(kwargs or {}).values()]
    return any(isinstance(part, (torch.device, str)) for part in given) or next(_flatten(given), None) is None


def _owned(result: Any, args: tuple[Any, ...]) -> int:
    """Elements of the result's own storage; a view of an argument owns nothing, nor does what torch clones inside."""
    if not isinstance(result, Tensor) or values_of(result).device.type == "meta":
        return 0
    storage = _unwrapped(result).untyped_storage()
    if any(isinstance(a, Tensor) and _unwrapped(a).untyped_storage().data_ptr() == storage.data_ptr() for a in args):
        return 0
    return int(storage.nbytes() // max(1, result.element_size()))


def _repeated(tensor: Tensor) -> int:
    """Elements whose number stands in the tensor before: few among results of real numbers, (H−1)/H among H copies.

    A tensor that is all one number, such as a buffer of zeros, repeats nothing.
    """
    distinct = int(_unwrapped(tensor).detach().unique().numel())
    return tensor.numel() - distinct if distinct > 1 else 0


def _unwrapped(tensor: Tensor) -> Tensor:
    """What `vmap` and its like hand around has no storage of its own: the tensor inside has."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return values_of(tensor)


class CostTrace(OperationMode):
    """Counts what the operations under it cost. `known` tensors (the inputs) are not new storage.

    On the meta device, where tensors have no values, the storage counts that they would own.
    """

    def __init__(self, known: Iterable[Tensor] = ()) -> None:
        super().__init__()
        self._flops = 0
        self._operations = 0
        self._largest = 0
        self._held_bytes = 0
        self._peak_bytes = 0
        self._live: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._known = {_identity(tensor) for tensor in known}

    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        outputs = list(_flatten(result))
        inputs = list(_flatten([list(args), kwargs]))
        storages = {_identity(t) for t in inputs}
        fresh = [t for t in outputs if _identity(t) not in storages]
        self._note(fresh)
        if fresh or func._schema.is_mutable or not outputs:
            self._operations += 1  # cutting a tensor into views computes nothing
            self._flops += _work(func, args, kwargs, result, inputs, outputs)
        return result

    def _note(self, fresh: list[Tensor]) -> None:
        for tensor in fresh:
            storage = values_of(tensor).untyped_storage()
            key, size = _identity(tensor), storage.nbytes()
            if key in self._known or not key:
                continue
            self._largest = max(self._largest, size // max(1, tensor.element_size()))
            held = self._live.get(key)
            if held is None or held[1] != size:
                self._forget(key)
                self._live[key] = weakref.ref(storage, partial(self._forget, key)), size
                self._held_bytes += size
                self._peak_bytes = max(self._peak_bytes, self._held_bytes)

    def _forget(self, key: int, _gone: Any = None) -> None:
        """The storage is gone, or has another size now."""
        self._held_bytes -= self._live.pop(key, (None, 0))[1]

    def figures(self) -> dict[str, int]:
        return {
            "flops": self._flops,
            "calls": self._operations,
            "largest": self._largest,
            "peak": self._peak_bytes,
        }


def _identity(tensor: Tensor) -> int:
    """What two tensors over one storage have in common: its address, or the object's where it holds nothing."""
    storage = values_of(tensor).untyped_storage()
    return int(storage.data_ptr()) or int(getattr(storage, "_cdata", 0))


def returned_bytes(outcome: Any) -> int:
    """Bytes of all the storage that a result keeps alive: a view of something larger counts whole."""
    storages = {_identity(t): values_of(t).untyped_storage().nbytes() for t in _flatten(outcome)}
    return sum(storages.values())


def _flatten(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flatten(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _flatten(item)


def _work(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, inputs: list[Tensor], outputs: list[Tensor]
) -> int:
    packet = func._overloadpacket
    counted = _EXTRA.get(packet)
    if counted is not None:
        return counted(*args)
    if packet in flop_registry:
        return int(flop_registry[packet](*args, **kwargs, out_val=result))
    produced = sum(tensor.numel() for tensor in outputs)
    if packet.__name__ in _REDUCTIONS:
        return max([produced, *(tensor.numel() for tensor in inputs)])
    return produced


def _attention_flops(q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> int:
    return 2 * q.numel() * k.shape[-2] + 2 * q.shape[:-1].numel() * k.shape[-2] * v.shape[-1]


# Products that torch's own counter does not know and would take for free.
_EXTRA: dict[Any, Callable[..., int]] = {
    aten.mv: lambda matrix, vector: 2 * matrix.numel(),
    aten.dot: lambda a, b: 2 * a.numel(),
    aten.vdot: lambda a, b: 2 * a.numel(),
    aten.addmv: lambda bias, matrix, vector: 2 * matrix.numel(),
    aten.addr: lambda bias, a, b: 2 * a.numel() * b.numel(),
}
if hasattr(aten, "_scaled_dot_product_flash_attention_for_cpu"):
    _EXTRA[aten._scaled_dot_product_flash_attention_for_cpu] = _attention_flops
