"""What the learner's code calls and what its work costs, seen from inside its process.

`CallTrace` records the torch functions called, as they were written, with the line in the learner's file.
`CostTrace` counts work (FLOPs of products, one unit for every element that any other operation produces or reduces),
the operations called, the largest storage made, and the peak of live bytes. Both stop mistakes and shortcuts, not
adversaries.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils.flop_counter import flop_registry

from . import devices
from .devices import MAX_DEPTH, Elsewhere, OperationMode, tensors_in, values_of
from .values import Environment, Packer, Raised, Tree, arguments_of, bytes_of, describe_tensor

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


# Watching a program run: what it changed (arguments, settings of torch), whose memory and random numbers it used.

Step = dict[str, Any]

# With whom a result shares memory, and what was done to torch's own state.
ALIASED = ("input", "kept", "earlier")
GLOBALS = ("seeded", "drawn", "dtype", "autograd")

# As it was when this module was imported, before any submission.
DEFAULT_DTYPE = torch.get_default_dtype()


class ProgramWatch:
    """Copies outcomes when they are returned, and finds what changed, was mutated or shares memory."""

    def __init__(
        self, environment: Environment, steps: Sequence[Step], earlier: Sequence[Any], want: Collection[str]
    ) -> None:
        closely, modules = "pure" in want, "modules" in want
        self.environment = environment
        self._device = environment.device
        # The device check of a grading on the CPU asks for the form of what is elsewhere, and not for its values.
        self._twins = "elsewhere" in want
        self._autograd = "no-grad" not in want
        self._seeds = devices.initial_seeds(self._device)
        self._closely = closely
        self.copies: list[tuple[Tree, list[bytes], list[dict[str, Any]]]] = []
        self.aliased: list[list[Any]] = []
        self.inputs = [_state_of(tensor) for tensor in environment.tensors] if closely else []
        self.containers: list[int] = []
        self._steps = steps
        self._kept = {_storage(t) for t in tensors_in(list(earlier))} - {0}
        self._given = {_storage(t) for t in _given(environment)} - {0} if closely else set()
        self._kept_containers = {id(c) for item in earlier for c in _containers_in(item)}
        self.globals: list[list[Any]] = []
        self._random_states = devices.random_states(self._device)
        self._modules: dict[int, list[Any]] | None = {} if modules else None
        self.modules_changed: list[int] = []

    def after(self, index: int, arguments: Any, outcome: Any) -> None:
        self.copies.append(self.copied(outcome))
        if self._closely:
            self._look_for_shared_memory(index, arguments, outcome)
            self._look_at_randomness(index, arguments)
            self._look_at_settings(index)
        if self._modules is not None:
            self._look_into_modules(index, self._modules)

    def copied(self, value: Any) -> tuple[Tree, list[bytes], list[dict[str, Any]]]:
        return copied(value, self._twins)

    def _look_into_modules(self, index: int, known: dict[int, list[Any]]) -> None:
        """Whether a call left something in a module that was made by an earlier step."""
        for made, step in enumerate(self._steps[: index + 1]):
            module = self.environment.results[made]
            if step["op"] != "new" or not isinstance(module, nn.Module):
                continue
            holds = [self.copied(dict(vars(part)))[:2] for part in module.modules()]
            if self._steps[index]["op"] in ("call", "method") and known[made] != holds:
                self.modules_changed.append(index)
            known[made] = holds

    def _look_for_shared_memory(self, index: int, arguments: Any, outcome: Any) -> None:
        if not _same_parts(arguments, arguments_of(self._steps[index], self.environment)):
            self.containers.append(index)
        own = {_storage(tensor) for tensor in tensors_in(list(arguments))} - {0}
        result = {_storage(tensor) for tensor in tensors_in(outcome)} - {0}
        if result & own:
            self.aliased.append([index, "input"])
        elif result & self._kept or self._returned_again(arguments, outcome):
            self.aliased.append([index, "earlier"])
        elif self._given & {_storage(tensor) for tensor in tensors_in(self.environment.shared)}:
            self.aliased.append([index, "kept"])
        self._kept |= result

    def _returned_again(self, arguments: Any, outcome: Any) -> bool:
        """Whether a list or dict that an earlier call returned comes again, without having been passed in."""
        passed = {id(c) for part in arguments for c in _containers_in(part)}
        returned = {id(c) for c in _containers_in(outcome)} - passed
        again = bool(returned & self._kept_containers)
        self._kept_containers |= returned
        return again

    def _look_at_randomness(self, index: int, arguments: Any) -> None:
        """Whether torch's global generator was seeded, or drawn from although a generator was passed."""
        states = devices.random_states(self._device)
        if self._steps[index]["op"] == "manual_seed":
            self._seeds, self._random_states = devices.initial_seeds(self._device), states
        if all(map(torch.equal, states, self._random_states)):
            return
        self._random_states = states
        if devices.initial_seeds(self._device) != self._seeds:
            self.globals.append([index, "seeded"])
        elif any(isinstance(value, torch.Generator) for value in (*arguments[0], *arguments[1].values())):
            self.globals.append([index, "drawn"])

    def _look_at_settings(self, index: int) -> None:
        """Whether what torch does for everybody was left another way."""
        if torch.get_default_dtype() != DEFAULT_DTYPE:
            self.globals.append([index, "dtype"])
        if torch.is_grad_enabled() != self._autograd:
            self.globals.append([index, "autograd"])

    def mutated(self) -> list[int]:
        pairs = zip(self.environment.tensors, self.inputs, strict=True)
        return [k for k, (tensor, before) in enumerate(pairs) if _state_of(tensor) != before]

    def instances(self, outcomes: Sequence[Any], arguments: Sequence[Any]) -> list[int]:
        """Steps that made an object which shares memory with one made by another call of the same class."""
        made = [k for k, step in enumerate(self._steps) if step["op"] == "new"]
        given = {_storage(t) for k in made for part in _parts_of(arguments[k]) for t in _memory_of(part)}
        held = {k: {_storage(t) for t in _memory_of(outcomes[k])} - given - {0} for k in made}
        pairs = combinations(made, 2)
        return [b for a, b in pairs if self._steps[a]["name"] == self._steps[b]["name"] and held[a] & held[b]]

    def changed(self, outcomes: Sequence[Any]) -> list[int]:
        """Steps whose returned values are no longer what was returned. Objects may change, by their class too."""
        return [
            index
            for index, (step, outcome, copy) in enumerate(zip(self._steps, outcomes, self.copies, strict=True))
            if step["op"] != "new" and self.copied(outcome)[:2] != copy[:2]
        ]


def _state_of(tensor: Tensor) -> tuple[Any, ...]:
    """All that a call must leave as it is: `unsqueeze_` moves no value, and the caller's tensor is another one."""
    return bytes_of(tensor), tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad


def _containers_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """Every list and dict in nested containers, itself included: what a caller could change."""
    if isinstance(value, (list, dict)):
        yield value
    if depth < MAX_DEPTH and isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _containers_in(part, depth + 1)


def _parts_of(arguments: Any) -> Iterator[Any]:
    """What a call was given, and what a list or dict among it holds, as that of a ModuleDict does."""
    args, kwargs = arguments
    for part in (*args, *kwargs.values()):
        yield part
        yield from part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()


def _memory_of(value: Any) -> Iterator[Tensor]:
    """The tensors of values and of the attributes, parameters and buffers of objects."""
    if isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
    if isinstance(value, (list, tuple, dict, Tensor)):
        yield from tensors_in(value)
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            if isinstance(part, nn.Module):
                yield from _memory_of(part)
    elif hasattr(value, "__dict__"):
        yield from tensors_in(dict(vars(value)))


def _given(environment: Environment) -> list[Tensor]:
    """The tensors of the table that are no part of an object which is to be changed in place."""
    shared = {id(tensor) for tensor in tensors_in(environment.shared)}
    return [tensor for tensor in environment.tensors if id(tensor) not in shared]


def _same_parts(value: Any, fresh: Any) -> bool:
    """Whether a container still holds what it was passed with: the same keys and the very same tensors."""
    if isinstance(fresh, (list, tuple)):
        return len(value) == len(fresh) and all(_same_parts(a, b) for a, b in zip(value, fresh, strict=True))
    if isinstance(fresh, dict):
        return list(value) == list(fresh) and all(_same_parts(value[key], fresh[key]) for key in fresh)
    if isinstance(fresh, Tensor):
        return value is fresh
    return not plain(fresh) or value == fresh or value != value


def _storage(tensor: Tensor) -> int:
    if tensor.device.type != "cpu":
        tensor = devices.values_of(tensor)
    return tensor.untyped_storage().data_ptr() if tensor.device.type != "meta" else 0


def copied(value: Any, twins: bool = False) -> tuple[Tree, list[bytes], list[dict[str, Any]]]:
    """The tree of a value with the bytes and the table of its tensors; with `twins` what is elsewhere has no bytes."""
    packer = Packer(special=lambda item: _pack_special(item, packer))
    tree = packer.pack(value)
    tensors = packer.tensors
    if twins:
        raw = [b"" if type(t) is Elsewhere else bytes_of(t) for t in tensors]
        return tree, raw, [describe_tensor(t, values=type(t) is not Elsewhere) for t in tensors]
    return tree, [bytes_of(t) for t in tensors], [describe_tensor(t) for t in tensors]


def _pack_special(value: Any, packer: Packer) -> Tree | None:
    if isinstance(value, Elsewhere):
        return packer.tensor(value)
    return ["raised", list(value.names), value.text] if isinstance(value, Raised) else None


def plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(plain(item) for item in value)
    return type(value) in (int, float, bool, str, bytes)
