"""Observe the learner's code from inside its process: its calls, the cost of its work, and its changes.

`CallTrace` records the torch functions called, as they were written, with the line in the learner's file.
`CostTrace` counts FLOPs (of products; other operations count one for every element that they produce or reduce),
operations, the largest storage made, and the peak of live bytes. `ProgramWatch` finds mutated arguments, changed torch
settings, shared memory and random numbers drawn. All three stop mistakes and shortcuts, not adversaries.
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

Step = dict[str, Any]

aten = torch.ops.aten
_REDUCTIONS = frozenset(
    "sum mean amax amin max min var std var_mean std_mean norm linalg_vector_norm logsumexp prod argmax argmin".split()
)
LAUNCH = "triton.launch"  # listed among the calls after a kernel launch
_SIXTEEN_BIT_DTYPES = (torch.float16, torch.bfloat16)

ALIASED = ("input", "kept", "earlier")  # owners of memory that a result may share
GLOBALS = ("seeded", "drawn", "dtype", "autograd")  # changes of torch's own state
DEFAULT_DTYPE = torch.get_default_dtype()  # before any submission


class Traffic:
    """Count the kernel launches in this process, and the bytes that kernels loaded and stored."""

    launches = 0
    moved = 0


class CallTrace(TorchFunctionMode):
    """Record every torch function called while active, as (qualified name, line in `filename`).

    With `sizes`, `largest` is the number of elements of the largest storage that a call returned, and `repeated` the
    largest number of repeated elements in a result. 16-bit dtypes of results are listed like calls, so that a challenge
    can forbid them. So are the public Python function of torch that the learner's line called and, with
    `BareOperations`, operations executed without one.
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
        if isinstance(result, Tensor) and result.dtype in _SIXTEEN_BIT_DTYPES:
            self._seen[str(result.dtype), line] = None
        if entered and line:
            self._seen[entered, line] = None
        return result

    def note(self, operation: Any, result: Any) -> None:
        """Record an operation, unless a recorded function of torch has called it."""
        place = self._place(until=CallTrace.__torch_function__.__code__)
        if place is not None:
            self._seen[_name(operation), place[0]] = None
            if isinstance(result, Tensor) and result.dtype in _SIXTEEN_BIT_DTYPES:
                self._seen[str(result.dtype), place[0]] = None

    def _place(self, until: CodeType | None = None) -> tuple[int, str] | None:
        """Return the running line of the learner's file and the torch function it called; None below `until`."""
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


class BareOperations(OperationMode):
    """Report to a `CallTrace` the operations that no Python function of torch called, even if those were hidden."""

    def __init__(self, trace: CallTrace) -> None:
        super().__init__()
        self._trace = trace

    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        self._trace.note(func, result)
        return result


_names: dict[Any, str] = {}


def _name(func: Any) -> str:
    """Return the qualified name, from a cache: the look-up takes longer than most calls."""
    name = _names.get(func)
    if name is None:
        name = str(resolve_name(func) or getattr(func, "__name__", func))
        if name.startswith("aten."):
            name = name.rsplit(".", 1)[0]  # without the overload
        name = _names[func] = name[:120]
    return name


def _public(frame: FrameType | None) -> str:
    """Return the qualified name of a public Python function of torch, else an empty string."""
    module = "" if frame is None else str(frame.f_globals.get("__name__", ""))
    if frame is None or not module.startswith("torch.") or module.startswith(("torch._", "torch.utils")):
        return ""
    return f"{module}.{frame.f_code.co_qualname}"[:120]


def _makes(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> bool:
    """Return True if a call chose a device: it made a tensor from none, or was given a device."""
    if not isinstance(result, Tensor):
        return False
    if not any(isinstance(part, (Tensor, list, tuple)) for part in args) and not kwargs:
        return True
    given = [*args, *(kwargs or {}).values()]
    return any(isinstance(part, (torch.device, str)) for part in given) or next(tensors_in(given), None) is None


def _owned(result: Any, args: tuple[Any, ...]) -> int:
    """Return the number of elements of the result's own storage, 0 for a view of an argument."""
    if not isinstance(result, Tensor) or values_of(result).device.type == "meta":
        return 0
    storage = _unwrapped(result).untyped_storage()
    if any(isinstance(a, Tensor) and _unwrapped(a).untyped_storage().data_ptr() == storage.data_ptr() for a in args):
        return 0
    return int(storage.nbytes() // max(1, result.element_size()))


def _repeated(tensor: Tensor) -> int:
    """Return how many elements repeat an earlier value: few among real results, (H−1)/H of them among H copies.

    A tensor of one single value, such as a buffer of zeros, counts as 0.
    """
    distinct = int(_unwrapped(tensor).detach().unique().numel())
    return tensor.numel() - distinct if distinct > 1 else 0


def _unwrapped(tensor: Tensor) -> Tensor:
    """Return the tensor with the storage: `vmap` and its like pass around wrappers without one."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return values_of(tensor)


# The cost of operations


class CostTrace(OperationMode):
    """Count the cost of the operations run inside it. The storage of `known` tensors (the inputs) is not new.

    Tensors on the meta device count with the storage that they would own.
    """

    def __init__(self, known: Iterable[Tensor] = ()) -> None:
        super().__init__()
        self._flops = 0
        self._operations = 0
        self._largest = 0
        self._held_bytes = 0
        self._peak_bytes = 0
        self._live: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._known = {_storage_id(tensor) for tensor in known}

    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        outputs = list(tensors_in(result))
        inputs = list(tensors_in([list(args), kwargs]))
        storages = {_storage_id(t) for t in inputs}
        fresh = [t for t in outputs if _storage_id(t) not in storages]
        self._note(fresh)
        if fresh or func._schema.is_mutable or not outputs:
            self._operations += 1  # views compute nothing
            self._flops += _flops_of(func, args, kwargs, result, inputs, outputs)
        return result

    def _note(self, fresh: list[Tensor]) -> None:
        for tensor in fresh:
            storage = values_of(tensor).untyped_storage()
            key, size = _storage_id(tensor), storage.nbytes()
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
        """Stop counting a storage that is freed or resized."""
        self._held_bytes -= self._live.pop(key, (None, 0))[1]

    def figures(self) -> dict[str, int]:
        return {"flops": self._flops, "calls": self._operations, "largest": self._largest, "peak": self._peak_bytes}


def _flops_of(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, inputs: list[Tensor], outputs: list[Tensor]
) -> int:
    packet = func._overloadpacket
    counted = _EXTRA_FLOPS.get(packet)
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


# Products that torch's own counter does not know and would count as free.
_EXTRA_FLOPS: dict[Any, Callable[..., int]] = {
    aten.mv: lambda matrix, vector: 2 * matrix.numel(),
    aten.dot: lambda a, b: 2 * a.numel(),
    aten.vdot: lambda a, b: 2 * a.numel(),
    aten.addmv: lambda bias, matrix, vector: 2 * matrix.numel(),
    aten.addr: lambda bias, a, b: 2 * a.numel() * b.numel(),
}
if hasattr(aten, "_scaled_dot_product_flash_attention_for_cpu"):
    _EXTRA_FLOPS[aten._scaled_dot_product_flash_attention_for_cpu] = _attention_flops


def returned_bytes(outcome: Any) -> int:
    """Return the bytes of all storage that a result keeps alive: a view counts with its whole storage."""
    storages = {_storage_id(t): values_of(t).untyped_storage().nbytes() for t in tensors_in(outcome)}
    return sum(storages.values())


def _storage_id(tensor: Tensor) -> int:
    """Return an id of the tensor's storage: its address, or that of the storage object if it is empty."""
    storage = values_of(tensor).untyped_storage()
    return int(storage.data_ptr()) or int(getattr(storage, "_cdata", 0))


# Changes by a program: arguments, torch's settings, shared memory, random numbers


class ProgramWatch:
    """Copy outcomes when they are returned, and find changed, mutated or shared values.

    `earlier` are the outcomes of the previous request; `want` selects the checks: "pure", "modules".
    """

    def __init__(
        self, environment: Environment, steps: Sequence[Step], earlier: Sequence[Any], want: Collection[str]
    ) -> None:
        pure, modules = "pure" in want, "modules" in want
        self.environment = environment
        self._device = environment.device
        # The device check of a grading on the CPU needs the dtype and shape of tensors elsewhere, not their values.
        self._forms_only = "elsewhere" in want
        self._autograd = "no-grad" not in want
        self._seeds = devices.initial_seeds(self._device)
        self._pure = pure
        self.copies: list[tuple[Tree, list[bytes], list[dict[str, Any]]]] = []
        self.aliased: list[list[Any]] = []
        self.inputs = [_state_of(tensor) for tensor in environment.tensors] if pure else []
        self.containers: list[int] = []
        self._steps = steps
        self._kept = {_storage(t) for t in tensors_in(list(earlier))} - {0}
        # Tensors of objects that may be changed in place are no arguments.
        shared = {id(tensor) for tensor in tensors_in(environment.shared)}
        arguments = [tensor for tensor in environment.tensors if id(tensor) not in shared]
        self._argument_tensors = {_storage(t) for t in arguments} - {0} if pure else set()
        self._kept_containers = {id(c) for item in earlier for c in _containers(item)}
        self.globals: list[list[Any]] = []
        self._random_states = devices.random_states(self._device)
        self._modules: dict[int, list[Any]] | None = {} if modules else None
        self.modules_changed: list[int] = []

    def after(self, index: int, arguments: Any, outcome: Any) -> None:
        self.copies.append(self.copied(outcome))
        if self._pure:
            self._check_shared_memory(index, arguments, outcome)
            self._check_random_state(index, arguments)
            if torch.get_default_dtype() != DEFAULT_DTYPE:
                self.globals.append([index, "dtype"])
            if torch.is_grad_enabled() != self._autograd:
                self.globals.append([index, "autograd"])
        if self._modules is not None:
            self._check_modules(index, self._modules)

    def copied(self, value: Any) -> tuple[Tree, list[bytes], list[dict[str, Any]]]:
        """Return the tree of a value, and the bytes and table entries of its tensors."""

        def special(item: Any) -> Tree | None:
            if isinstance(item, Elsewhere):
                return packer.tensor(item)
            return ["raised", list(item.names), item.text] if isinstance(item, Raised) else None

        packer = Packer(special)
        tree = packer.pack(value)
        with_values = [type(t) is not Elsewhere or not self._forms_only for t in packer.tensors]
        pairs = list(zip(packer.tensors, with_values, strict=True))
        raw = [bytes_of(t) if values else b"" for t, values in pairs]
        return tree, raw, [describe_tensor(t, values=values) for t, values in pairs]

    def _check_modules(self, index: int, known: dict[int, list[Any]]) -> None:
        """Record a call that changed a module made by an earlier step."""
        for made, step in enumerate(self._steps[: index + 1]):
            module = self.environment.results[made]
            if step["op"] != "new" or not isinstance(module, nn.Module):
                continue
            holds = [self.copied(dict(vars(part)))[:2] for part in module.modules()]
            if self._steps[index]["op"] in ("call", "method") and known[made] != holds:
                self.modules_changed.append(index)
            known[made] = holds

    def _check_shared_memory(self, index: int, arguments: Any, outcome: Any) -> None:
        if not _same_parts(arguments, arguments_of(self._steps[index], self.environment)):
            self.containers.append(index)
        own = {_storage(tensor) for tensor in tensors_in(list(arguments))} - {0}
        result = {_storage(tensor) for tensor in tensors_in(outcome)} - {0}
        if result & own:
            self.aliased.append([index, "input"])
        elif result & self._kept or self._returned_again(arguments, outcome):
            self.aliased.append([index, "earlier"])
        elif self._argument_tensors & {_storage(tensor) for tensor in tensors_in(self.environment.shared)}:
            self.aliased.append([index, "kept"])
        self._kept |= result

    def _returned_again(self, arguments: Any, outcome: Any) -> bool:
        """Return True if a call returns a list or dict that an earlier call returned and that was not passed in."""
        passed = {id(c) for part in arguments for c in _containers(part)}
        returned = {id(c) for c in _containers(outcome)} - passed
        again = bool(returned & self._kept_containers)
        self._kept_containers |= returned
        return again

    def _check_random_state(self, index: int, arguments: Any) -> None:
        """Record that torch's global generator was seeded, or used although a generator was passed."""
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

    def mutated(self) -> list[int]:
        pairs = zip(self.environment.tensors, self.inputs, strict=True)
        return [k for k, (tensor, before) in enumerate(pairs) if _state_of(tensor) != before]

    def instances(self, outcomes: Sequence[Any], arguments: Sequence[Any]) -> list[int]:
        """Return the steps whose new object shares memory with another new object of the same class."""
        made = [k for k, step in enumerate(self._steps) if step["op"] == "new"]
        given = {_storage(t) for k in made for part in _argument_parts(arguments[k]) for t in _tensors_held(part)}
        held = {k: {_storage(t) for t in _tensors_held(outcomes[k])} - given - {0} for k in made}
        pairs = combinations(made, 2)
        return [b for a, b in pairs if self._steps[a]["name"] == self._steps[b]["name"] and held[a] & held[b]]

    def changed(self, outcomes: Sequence[Any]) -> list[int]:
        """Return the steps whose returned values have changed since. Objects made by `new` may change."""
        return [
            index
            for index, (step, outcome, copy) in enumerate(zip(self._steps, outcomes, self.copies, strict=True))
            if step["op"] != "new" and self.copied(outcome)[:2] != copy[:2]
        ]


def _state_of(tensor: Tensor) -> tuple[Any, ...]:
    """Return the state of a tensor that no call may change, with its shape: `unsqueeze_` changes no value."""
    return bytes_of(tensor), tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad


def _containers(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield every list and dict in nested containers, itself included: a caller could change these."""
    if isinstance(value, (list, dict)):
        yield value
    if depth < MAX_DEPTH and isinstance(value, (list, tuple, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _containers(part, depth + 1)


def _argument_parts(arguments: Any) -> Iterator[Any]:
    """Yield a call's arguments, and the items of lists and dicts among them, as for a ModuleDict."""
    args, kwargs = arguments
    for part in (*args, *kwargs.values()):
        yield part
        yield from part.values() if isinstance(part, dict) else part if isinstance(part, (list, tuple)) else ()


def _tensors_held(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of values, and of the attributes, parameters and buffers of objects."""
    if isinstance(value, nn.Module):
        yield from value.parameters()
        yield from value.buffers()
    if isinstance(value, (list, tuple, dict, Tensor)):
        yield from tensors_in(value)
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            if isinstance(part, nn.Module):
                yield from _tensors_held(part)
    elif hasattr(value, "__dict__"):
        yield from tensors_in(dict(vars(value)))


def _same_parts(value: Any, fresh: Any) -> bool:
    """Return True if a container still has the contents passed in: the same keys and the very same tensors."""
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


def plain(value: Any) -> bool:
    if type(value) is tuple:
        return all(plain(item) for item in value)
    return type(value) in (int, float, bool, str, bytes)
