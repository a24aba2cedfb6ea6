"""Triton kernels in a worker: run in Triton's interpreter, with every load and store checked.

This patches public hooks and a few internals of Triton; without one of them an access goes unchecked, or the
interpreter stays slow. It stops mistakes, not adversaries: the learner's code runs in the same process. Fresh memory is
filled with NaN or the largest integer, so that reads of it show.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import dataclasses
import dis
import functools
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.utils import _python_dispatch

from . import landlock, tracing

GAP_BYTES = 1 << 16  # between two tensors
ALIGNMENT = 64
NOBODY, SEVERAL, ATOMIC = -1, -2, -3  # in place of a program's number
NOTHING = torch.empty(0)

_SCALARS = (int, float, bool, str, type(None), torch.dtype)
# Python's own functions that a compiled kernel may call.
_PYTHON_FUNCTIONS = (len, list, range, float, int, isinstance, getattr, hasattr, print, min, max)
# The compiler calls such a function itself, on constants: its body is Python's.
_CONSTEXPR_FUNCTION = "ConstexprFunction"
_KERNEL_TYPES = ("triton.runtime.jit", "triton.runtime.interpreter")

_ALLOCATORS = ((torch, "empty"), (torch, "empty_like"), (torch, "empty_strided"), (Tensor, "new_empty"))

Rule = Callable[[Any], bool]


class KernelFault(Exception):
    """A wrong access that a GPU would not refuse. `fault` has its kind, tensor, index and programs."""

    def __init__(self, kind: str, name: str, index: int, count: int, programs: Sequence[int]) -> None:
        super().__init__(f"{kind} {name}[{index}] by program {list(programs)}")
        self.fault = {"kind": kind, "tensor": name, "index": index, "count": count, "programs": list(programs)}


def prepare(interpreted: bool = True, compiling: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
    """Make Triton importable, in its interpreter, and check its accesses. Raises ImportError if it is not installed.

    If not `interpreted`, it compiles for a GPU: launches are counted, accesses are not checked, and `compiling()` is
    entered around each launch, in which Triton writes files and runs programs of its own.
    """
    if _State.prepared:
        return
    os.environ["TRITON_INTERPRET"] = "1" if interpreted else "0"
    for finder in sys.meta_path:
        if hasattr(finder, "without"):
            finder.without = finder.without - landlock.FOR_KERNELS
    if interpreted:
        _prepare_interpreter()
    else:
        for module, name in (("triton.runtime.jit", "JITFunction"), ("triton.runtime.autotuner", "Autotuner")):
            _count_launches(getattr(importlib.import_module(module), name, None), compiling)
    _State.prepared = True


class _State:
    """The state of this process: kernels run one after the other."""

    memory: LaunchMemory | None = None
    prepared = False


def _prepare_interpreter() -> None:
    interpreter = importlib.import_module("triton.runtime.interpreter")
    numpy = importlib.import_module("numpy")
    check_versions(importlib.import_module("triton").__version__, numpy.__version__)
    numpy.seterr(all="ignore")  # a GPU does not warn of exp(100) either
    with contextlib.suppress(AttributeError):
        importlib.import_module("triton.knobs").compilation.front_end_debugging = True
    quicken(interpreter)
    _watch_launches(interpreter)
    _watch_accesses(interpreter)
    for owner, name in _ALLOCATORS:
        setattr(owner, name, _poisoning(getattr(owner, name)))


def check_versions(triton: str, numpy: str) -> None:
    """Raise ImportError for a pair of versions whose interpreter fails at every loop over a range."""

    def release(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split(".")[:2])

    if release(triton) < (3, 7) and release(numpy) >= (2, 4):
        raise ImportError(f"Triton {triton} needs NumPy below 2.4; this is {numpy}")


def _count_launches(kernel: Any, compiling: Callable[[], AbstractContextManager[None]]) -> None:
    """Count the launches of compiled kernels of this class."""
    if kernel is None:
        return
    run = kernel.run

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracing.Traffic.launches += 1
        with compiling(), _untraced():
            return run(self, *args, **kwargs)

    kernel.run = counted


def _watch_launches(interpreter: Any) -> None:
    executor = getattr(interpreter, "GridExecutor", None)
    if executor is None:
        return
    launch = executor.__call__

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_outsiders(self.fn, [*args, *kwargs.values()])
        if callable(self.grid):
            self.grid = grid_of(self, args, kwargs)
        with _untraced():
            memory = LaunchMemory(_tensors_of(getattr(self, "arg_names", ()), args, kwargs))
            _State.memory = memory
            try:
                placed = {name: _in_arena(value, memory) for name, value in kwargs.items()}
                return launch(self, *[_in_arena(value, memory) for value in args], **placed)
            finally:
                _State.memory = None
                memory.write_back()
                tracing.Traffic.launches += 1
                tracing.Traffic.moved += memory.moved

    executor.__call__ = watched


def _tensors_of(names: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Tensor]:
    """Return the tensors that a kernel is launched with, by the names of its parameters."""
    found: dict[str, Tensor] = {}
    for name, value in {**dict(zip(names, args, strict=False)), **kwargs}.items():
        if isinstance(value, Tensor) and value.device.type == "cpu":
            found[str(name)] = value.detach()
        elif _is_descriptor(value):
            found[str(name)] = value.base.detach()
    return found


def _in_arena(value: Any, memory: LaunchMemory) -> Any:
    if _is_descriptor(value):
        described = copy.copy(value)
        described.base = memory.placed(value.base.detach())
        return described
    return memory.placed(value.detach()) if isinstance(value, Tensor) and value.device.type == "cpu" else value


def _is_descriptor(value: Any) -> bool:
    """Return True for one of Triton's descriptors of a tensor that is loaded in blocks."""
    return hasattr(value, "block_shape") and isinstance(getattr(value, "base", None), Tensor)


@contextlib.contextmanager
def _untraced() -> Iterator[None]:
    """Hide torch's calls for the interpreter from the traces of the learner's calls."""
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
            setattr(builder, name, _watched_access(method, name, pointers, mask))


def _watched_access(method: Callable[..., Any], name: str, pointers: int, mask: int | None) -> Callable[..., Any]:
    def access(self: Any, *args: Any, **kwargs: Any) -> Any:
        memory = _State.memory
        if memory is not None:
            addresses = args[pointers].data
            if mask is None:
                addresses = addresses.reshape(-1)
            else:  # block pointers and descriptors pass a bare array
                lanes = args[mask] if hasattr(args[mask], "astype") else args[mask].data
                addresses = addresses[lanes.astype(bool)]
            size = max(1, args[pointers].get_element_ty().primitive_bitwidth // 8)
            record = {"create_masked_load": memory.load, "create_masked_store": memory.store}.get(name, memory.add)
            if addresses.size:
                (x, y, z), (_, height, depth) = self.grid_idx, self.grid_dim
                program = int((x * height + y) * depth + z)
                record(torch.frombuffer(addresses.astype("int64"), dtype=torch.int64), size, program)
        return method(self, *args, **kwargs)

    return access


def _poisoning(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Wrap an allocator to fill its memory with values that no right result has."""

    def made(*args: Any, **kwargs: Any) -> Tensor:
        tensor = make(*args, **kwargs)
        if _State.memory is None:
            with _untraced():
                on_cpu = tensor.device.type == "cpu"
                if on_cpu and tensor.is_floating_point():
                    tensor.detach().fill_(float("nan"))
                elif on_cpu and tensor.dtype != torch.bool and not tensor.is_complex():
                    tensor.detach().fill_(torch.iinfo(tensor.dtype).max)
        return tensor

    made.__name__ = getattr(make, "__name__", "empty")
    return made


# The memory of one launch


class LaunchMemory:
    """The tensor arguments of one launch in one arena, with the programs that have read and written each byte.

    Tensors are far from each other, so that an address belongs to one of them or to none. Programs run in no order on
    a GPU: no other program may read or write what one has written, nor write what it has read.
    """

    def __init__(self, arguments: dict[str, Tensor]) -> None:
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in arguments.values() if t.numel()}
        sizes = {place: -(-storage.nbytes() // ALIGNMENT) * ALIGNMENT for place, storage in storages.items()}
        total = sum(sizes.values()) + GAP_BYTES * (len(sizes) + 1) + ALIGNMENT
        self.arena = torch.zeros(total, dtype=torch.uint8)
        at = GAP_BYTES + -(self.arena.data_ptr() + GAP_BYTES) % ALIGNMENT
        self.regions: dict[int, Region] = {}
        for place, storage in storages.items():
            part = self.arena[at : at + storage.nbytes()]
            part.copy_(_bytes(storage))
            self.regions[place] = Region(storage, part.data_ptr(), storage.nbytes(), part)
            at += sizes[place] + GAP_BYTES
        for name, tensor in arguments.items():
            if tensor.numel():
                self.regions[tensor.untyped_storage().data_ptr()].tensors[name] = tensor
        for region in self.regions.values():
            region.note_elements()
        self.moved = 0

    def placed(self, tensor: Tensor) -> Tensor:
        """Return the same tensor in the arena."""
        region = self.regions.get(tensor.untyped_storage().data_ptr()) if tensor.numel() else None
        if region is None:
            return tensor
        start = (region.bytes.data_ptr() - self.arena.data_ptr()) + tensor.storage_offset() * tensor.element_size()
        typed = self.arena[start % tensor.element_size() :]
        typed = typed[: typed.numel() // tensor.element_size() * tensor.element_size()].view(tensor.dtype)
        return typed.as_strided(tensor.shape, tensor.stride(), start // tensor.element_size())

    def write_back(self) -> None:
        """Copy the stored values back to the arguments."""
        for region in self.regions.values():
            if region.written:
                _bytes(region.storage).copy_(region.bytes)

    def load(self, addresses: Tensor, size: int, program: int) -> None:
        for region, offsets in self._regions_accessed("load", addresses, size, program):
            if region.written:
                _check_programs(
                    "load-after-store", region, offsets, _other_programs(region.writer[offsets], program), program
                )
            before = region.reader[offsets]
            region.reader[offsets] = torch.where((before == NOBODY) | (before == program), program, SEVERAL)

    def store(self, addresses: Tensor, size: int, program: int) -> None:
        for region, offsets in self._regions_accessed("store", addresses, size, program):
            _check_programs("store-twice", region, offsets, _other_programs(region.writer[offsets], program), program)
            _check_programs(
                "store-after-load", region, offsets, _other_programs(region.reader[offsets], program), program
            )
            region.writer[offsets] = program
            region.written = True

    def add(self, addresses: Tensor, size: int, program: int) -> None:
        """Record an atomic operation: others may write there too, atomically."""
        for region, offsets in self._regions_accessed("store", addresses, size, program):
            plain = _other_programs(region.writer[offsets], program)
            _check_programs("store-twice", region, offsets, torch.where(plain == ATOMIC, NOBODY, plain), program)
            region.writer[offsets] = ATOMIC
            region.written = True

    def _regions_accessed(
        self, access: str, addresses: Tensor, size: int, program: int
    ) -> Iterator[tuple[Region, Tensor]]:
        """Yield the regions with the offsets accessed in each. Raises KernelFault for addresses in none."""
        self.moved += size * addresses.numel()
        rest, first, last = addresses, int(addresses.min()), int(addresses.max())
        for region in self.regions.values():
            if last < region.base or first >= region.base + region.size:
                continue
            offsets = rest - region.base
            if first >= region.base and last < region.base + region.size:
                rest = NOTHING
            else:
                inside = (offsets >= 0) & (offsets < region.size)
                offsets, rest = offsets[inside], rest[~inside]
                if not offsets.numel():
                    continue
            elements = region.elements[offsets]
            if not elements.all():
                raise self._fault_outside(access, region, offsets[~elements], program)
            yield region, offsets
            if not rest.numel():
                return
        first = int(rest.min())
        nearest = min(self.regions.values(), key=lambda r: max(r.base - first, first - r.base - r.size), default=None)
        if nearest is None:
            raise KernelFault(f"{access}-outside", "", 0, 0, [program])
        raise self._fault_outside(access, nearest, rest - nearest.base, program)

    def _fault_outside(self, access: str, region: Region, offsets: Tensor, program: int) -> KernelFault:
        beyond = offsets[offsets >= 0]
        name, index, count = region.place_of(int(beyond.min() if beyond.numel() else offsets.max()))
        place = "between" if 0 <= index < count else "outside"
        return KernelFault(f"{access}-{place}", name, index, count, [program])


@dataclass(slots=True)
class Region:
    """One storage in the arena; `tensors` are the arguments in it, by name."""

    storage: torch.UntypedStorage
    base: int
    size: int
    bytes: Tensor
    tensors: dict[str, Tensor] = field(default_factory=dict)
    elements: Tensor = NOTHING
    writer: Tensor = NOTHING
    reader: Tensor = NOTHING
    written: bool = False

    def note_elements(self) -> None:
        """Mark where elements of the arguments start: a view leaves gaps that belong to none."""
        begins = torch.zeros(self.size, dtype=torch.bool)
        for tensor in self.tensors.values():
            step, start = tensor.element_size(), tensor.storage_offset() * tensor.element_size()
            begins.as_strided(tensor.shape, [step * stride for stride in tensor.stride()], start).fill_(True)
        self.elements = begins
        self.writer = torch.full((self.size,), NOBODY)
        self.reader = torch.full((self.size,), NOBODY)

    def place_of(self, offset: int) -> tuple[str, int, int]:
        """Return the argument nearest to an offset in bytes, the index of the element, and the number of elements."""

        def distance(tensor: Tensor) -> int:
            first = tensor.storage_offset() * tensor.element_size()
            last = first + _span(tensor) * tensor.element_size()
            return int(max(first - offset, offset - last, 0))

        name, tensor = min(self.tensors.items(), key=lambda item: distance(item[1]))
        first = tensor.storage_offset() * tensor.element_size()
        return name, (offset - first) // tensor.element_size(), _span(tensor)


def _span(tensor: Tensor) -> int:
    """Return the number of elements from a tensor's first to its last, gaps included."""
    if not tensor.numel():
        return 0
    return 1 + sum((int(size) - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _other_programs(programs: Tensor, program: int) -> Tensor:
    """Return the programs, with NOBODY in place of this one."""
    return torch.where(programs == program, NOBODY, programs)


def _check_programs(kind: str, region: Region, offsets: Tensor, others: Tensor, program: int) -> None:
    met = others != NOBODY
    if kind == "load-after-store":
        met &= others != ATOMIC
    if met.any():
        at = int(met.nonzero()[0])
        name, index, count = region.place_of(int(offsets[at]))
        other = int(others[at])
        raise KernelFault(kind, name, index, count, [program, *([other] if other >= 0 else [])])


def _bytes(storage: torch.UntypedStorage) -> Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(storage)


# The names and arguments that a kernel may use


def refuse_outsiders(body: Callable[..., Any], arguments: Sequence[Any]) -> None:
    """Raise NameError or TypeError if Triton would not compile the call: names of the module, objects as arguments.

    In the interpreter a kernel's body is Python and could reach every object of its module. Triton's compiler admits
    kernels, Triton's own names, `tl.constexpr` and a few functions of Python (`CodeGenerator._define_name_lookup`).
    """
    for value in arguments:
        if not _is_argument(value):
            raise TypeError(f"a kernel is launched with tensors and numbers, not with a {type(value).__name__}")
    seen: set[Any] = set()
    waiting = [(body, _is_allowed), *_kernels_among(arguments)]
    while waiting:
        function, is_allowed = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        names = dict(_names_read(function))
        for name, value in names.items():
            if not is_allowed(value):
                hint = f"; write {name} = tl.constexpr({value!r})" if type(value) in (int, float, bool) else ""
                means = "on a GPU it has its arguments, constants and other kernels alone"
                raise NameError(f"a kernel cannot reach {name}: {means}{hint}", name=name)
        waiting += _kernels_among(names.values())


def _kernels_among(values: Iterable[Any]) -> list[tuple[Callable[..., Any], Rule]]:
    """Return the functions of the kernels among the values, each with the rule for the names it may read."""
    kernels = [value for value in values if inspect.isfunction(getattr(value, "fn", None))]

    def may_read_constants(value: Any) -> bool:
        return _is_allowed(value) or _is_known(value)

    return [
        (value.fn, may_read_constants if type(value).__name__ == _CONSTEXPR_FUNCTION else _is_allowed)
        for value in kernels
    ]


def grid_of(executor: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    """Call the function that was passed as the grid, while torch is still traced."""
    known = {name: value for name, value in kwargs.items() if name in executor.arg_names}
    grid: tuple[int, ...] = executor.grid(inspect.getcallargs(executor.fn, *args, **known))
    return grid


def _names_read(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the outer names that a function reads. A cell without a value is skipped: reading it raises NameError."""
    code, module = function.__code__, getattr(function, "__globals__", {})
    for name in _globals_in(code):
        if name in module or hasattr(builtins, name):
            yield name, module.get(name, getattr(builtins, name, None))
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents


@functools.lru_cache(maxsize=1024)
def _globals_in(code: CodeType) -> tuple[str, ...]:
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in _globals_in(constant)]
    steps = dis.get_instructions(code)
    return (*(step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")), *inner)


def _is_argument(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_argument(part) for part in value)
    return isinstance(value, torch.Tensor) or _is_known(value)


def _is_known(value: Any) -> bool:
    """Return True for a number, and for Triton's own types, constants, functions and kernels."""
    if isinstance(value, tuple):
        return all(_is_known(part) for part in value)
    if inspect.isroutine(value) or inspect.isclass(value):
        return str(value.__module__).partition(".")[0] in ("triton", "math", "builtins")
    return isinstance(value, _SCALARS) or type(value).__module__.partition(".")[0] == "triton"


def _is_allowed(value: Any) -> bool:
    """Return True if the compiler admits a name with this value: None is one of its constants."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in ("triton", "math")
    of_python = any(value is function for function in _PYTHON_FUNCTIONS)
    if value is None or of_python or type(value).__module__ in _KERNEL_TYPES:
        return True
    if isinstance(value, type) and value.__base__ is tuple and hasattr(value, "_fields"):
        return True
    own = any(getattr(value, mark, False) for mark in ("__triton_builtin__", "__triton_aggregate__"))
    return own or str(getattr(value, "__module__", "")).startswith("triton.language")


# A faster interpreter


def quicken(interpreter: Any) -> None:
    """Cache objects that `triton.runtime.interpreter` rebuilds at each operation or launch: the longest wait of all.

    Does nothing the second time.
    """
    if getattr(interpreter, "quickened", False):
        return
    interpreter.quickened = True
    builder = getattr(interpreter, "interpreter_builder", None)
    options = getattr(builder, "options", None)
    # The overflow check of 32-bit sums takes nine operations, without effect unless `debug` is on.
    if hasattr(options, "sanitize_overflow") and dataclasses.is_dataclass(options):
        builder.options = dataclasses.replace(options, sanitize_overflow=False)  # type: ignore[union-attr, type-var]
    _look_for_builtins_once(interpreter)
    _look_up_types_once(interpreter)
    core = getattr(getattr(interpreter, "tl", None), "core", None)
    if hasattr(core, "block_type") and hasattr(core, "_unwrap_if_constexpr"):
        _make_blocks_once(core)
    if hasattr(core, "tensor"):
        _describe_tensors_once(core)


def _look_for_builtins_once(interpreter: Any) -> None:
    """Cache the functions that the interpreter replaces: each launch and each call of one kernel by another sorts all
    members of four modules and classes to find them."""
    language, patch = getattr(interpreter, "tl", None), getattr(interpreter, "_patch_attr", None)
    is_builtin = getattr(getattr(language, "core", None), "is_builtin", None)
    if patch is None or is_builtin is None or not hasattr(interpreter, "_patch_builtin"):
        return
    known: dict[Any, tuple[str, ...]] = {}

    def patch_builtin(owner: Any, builder: Any, scope: Any) -> None:
        names = known.get(owner) or tuple(name for name, member in inspect.getmembers(owner) if is_builtin(member))
        if not names:
            return
        known[owner] = names
        if is_builtin(getattr(owner, names[0], None)):  # they are replaced together, and put back together
            for name in names:
                patch(owner, name, getattr(owner, name), builder, scope)

    interpreter._patch_builtin = patch_builtin


def _look_up_types_once(interpreter: Any) -> None:
    """Cache NumPy's type for one of Triton's by its name: blocks and pointers have no hash."""
    look_up = getattr(interpreter, "_get_np_dtype", None)
    if look_up is None:
        return
    known: dict[str, Any] = {}

    def numpy_type(of: Any) -> Any:
        name = of.name
        if name not in known:
            known[name] = look_up(of)
        return known[name]

    interpreter._get_np_dtype = numpy_type


def _make_blocks_once(core: Any) -> None:
    """Cache the type of a block by its element type and sizes."""
    make, plain = core.block_type.__init__, core._unwrap_if_constexpr
    known: dict[Any, dict[str, Any]] = {}

    def make_block(self: Any, element_ty: Any, shape: Any) -> None:
        key = element_ty.name, tuple(plain(size) for size in shape)
        if key not in known:
            make(self, element_ty, shape)
            known[key] = dict(vars(self))
        vars(self).update(known[key])

    core.block_type.__init__ = make_block


def _describe_tensors_once(core: Any) -> None:
    """Cache the attributes of a kernel's values, except their handle, by the name of their type."""
    make = core.tensor.__init__
    known: dict[str, dict[str, Any]] = {}

    def make_tensor(self: Any, handle: Any, type: Any) -> None:
        if type.name not in known:
            make(self, handle, type)
            known[type.name] = dict(vars(self))
        vars(self).update(known[type.name], handle=handle, type=type)

    core.tensor.__init__ = make_tensor
