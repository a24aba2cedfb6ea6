"""Values as JSON trees with a table of tensors, which cross the process boundary instead of pickles.

A tree is a small JSON list whose first element is its kind:

    ["n"] None      ["b", bool]    ["i", int]     ["f", float or "nan"/"inf"/"-inf"]   ["s", str]   ["y", hex]
    ["t", k] tensor k of the table                  ["dt", name] dtype                  ["dv", name] device
    ["l", [...]] list   ["u", [...]] tuple        ["d", [[key, value], ...]] dict   ["w", [...]] iterator
    ["r", step, path] part of an earlier result     ["m", k] shared mutable object      ["g", k] random generator
    ["at", name] device of the grading (the CPU for the reference)
    ["c", k] callable on the judge's side           ["o", text] something else (it cannot cross)

Keys of dicts are texts, small numbers and tuples of these: thousands of large numbers can share one hash, and a dict of
them takes minutes to build. Every length is bounded before it is used.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from . import devices
from .devices import MAX_DEPTH, Walk

Tree = list[Any]

SEQUENCES = ("l", "u", "w")

EIGHT_BIT_FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2)
DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        *("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"),
        *("float8_e4m3fn", "float8_e5m2", "complex64", "complex128"),
    )
}
DTYPE_NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}

MAX_NODES = 20_000
MAX_DIMS = 8
MAX_ELEMENTS = 2**40
MAX_TEXT = 1_000_000
MAX_BITS = 4096
MAX_KEY = 2**31


class TreeError(ValueError):
    """A tree or tensor table that does not follow the format."""


@dataclass(slots=True)
class Raised:
    """An exception that a step was expected to raise; `names` are the classes of its MRO, most derived first."""

    names: tuple[str, ...]
    text: str


class Opaque:
    """Stand-in for a value of the learner's own type, which cannot cross."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<{self.name}>"


# Tensors as a table of entries, with their raw bytes in the same order


def describe_tensor(tensor: Tensor, keep_strides: bool = False, values: bool = True) -> dict[str, Any]:
    """Return the table entry of a tensor.

    `keep_strides` includes the storage layout, for inputs that are not contiguous. Without `values`, a tensor on
    another device is described by dtype and shape alone.
    """
    entry: dict[str, Any] = {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}
    if tensor.device.type != "cpu":
        place = devices.place_of(tensor)
        if place not in devices.AWAY or not values:
            return {**entry, "device": "meta", "nbytes": 0}
        return {**entry, "on": place, "nbytes": tensor.numel() * tensor.element_size()}
    if keep_strides and not tensor.is_contiguous():
        storage = tensor.untyped_storage()
        return {**entry, "stride": list(tensor.stride()), "offset": tensor.storage_offset(), "nbytes": storage.nbytes()}
    return {**entry, "nbytes": tensor.numel() * tensor.element_size()}


def bytes_of(tensor: Tensor, keep_strides: bool = False) -> bytes:
    """Return the raw bytes that go with `describe_tensor`. Needs no NumPy."""
    if tensor.device.type != "cpu":
        return bytes_of(devices.home(tensor)) if devices.place_of(tensor) in devices.AWAY else b""
    tensor = tensor.detach()
    if keep_strides and not tensor.is_contiguous():
        storage = tensor.untyped_storage()
        return ctypes.string_at(storage.data_ptr(), storage.nbytes())
    tensor = tensor.contiguous().resolve_conj().resolve_neg()
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def read_table(table: Any, payload: memoryview, writable_strides: bool = False) -> list[Tensor]:
    """Return the tensors of a table over `payload`, each with its own memory. Raises TreeError.

    Every number is bounded by the payload's length before anything is allocated; the whole payload must be used.
    `writable_strides` allows entries with a layout: for the worker, whose input comes from the judge.
    """
    if not isinstance(table, list) or len(table) > MAX_NODES:
        raise TreeError("a malformed tensor table")
    tensors, position = [], 0
    for entry in table:
        tensor, size = _read_tensor(entry, payload[position:], writable_strides)
        tensors.append(tensor)
        position += size
    if position != len(payload):
        raise TreeError("tensor bytes that belong to no tensor")
    return tensors


def _read_tensor(entry: Any, rest: memoryview, strided: bool) -> tuple[Tensor, int]:
    if not isinstance(entry, dict) or not isinstance(entry.get("dtype"), str) or entry["dtype"] not in DTYPES:
        raise TreeError("a tensor of unknown dtype")
    dtype, size = DTYPES[entry["dtype"]], entry.get("nbytes")
    shape: Any = entry.get("shape")
    if not _are_sizes(shape) or type(size) is not int or not 0 <= size <= len(rest):
        raise TreeError("a tensor with impossible sizes")
    count = math.prod(shape)
    # Torch cannot multiply such sizes even where another one is 0.
    if math.prod(n for n in shape if n) >= MAX_ELEMENTS:
        raise TreeError("a tensor with impossible sizes")
    if entry.get("on", devices.CUDA) not in devices.AWAY:
        raise TreeError("a tensor on a device that nobody knows")
    if entry.get("device") == "meta":
        if size != 0:
            raise TreeError("a tensor without values that has bytes")
        return torch.empty(shape, dtype=dtype, device="meta"), 0
    if strided and "stride" in entry:
        flat = _flat_tensor(rest[:size], dtype)
        return flat.as_strided(shape, entry["stride"], entry["offset"]), size
    if count * dtype.itemsize != size:
        raise TreeError("a tensor whose bytes do not fit its shape")
    return _flat_tensor(rest[:size], dtype).reshape(shape), size


def _are_sizes(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) <= MAX_DIMS and all(type(n) is int and 0 <= n < 2**40 for n in shape)


def _flat_tensor(chunk: memoryview, dtype: torch.dtype) -> Tensor:
    if not chunk:
        return torch.empty(0, dtype=dtype)
    if dtype is torch.bool:
        return torch.frombuffer(bytearray(chunk), dtype=torch.uint8) != 0
    return torch.frombuffer(bytearray(chunk), dtype=dtype)


# Values to trees


class Packer:
    """Turns values into trees, collecting each of their tensors once (by identity)."""

    def __init__(self, special: Callable[[Any], Tree | None] | None = None) -> None:
        self.tensors: list[Tensor] = []
        self._indices: dict[int, int] = {}
        self._special = special
        self._nodes = 0

    def pack(self, value: Any, depth: int = 0) -> Tree:
        """Return the tree of `value`, `["o", …]` for a type that cannot cross. Raises TreeError beyond the limits."""
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise TreeError("a value nested too deeply or with too many parts")
        if self._special is not None:
            tree = self._special(value)
            if tree is not None:
                return tree
        scalar = _pack_scalar(value)
        return scalar if scalar is not None else self._pack_container(value, depth)

    def tensor(self, value: Tensor) -> Tree:
        """Return a reference to the tensor in the table, or `["o", …]` if its dtype or layout cannot cross."""
        index = self._indices.get(id(value))
        if index is None:
            if value.dtype not in DTYPE_NAMES or value.layout is not torch.strided:
                return ["o", f"{type(value).__name__} of {value.dtype}, {value.layout}"[:80]]
            index = self._indices[id(value)] = len(self.tensors)
            self.tensors.append(value)
        return ["t", index]

    def _pack_container(self, value: Any, depth: int) -> Tree:
        kind = type(value)
        if kind is Tensor or kind is torch.nn.Parameter:
            return self.tensor(value)
        if kind is list or kind is tuple:
            return ["l" if kind is list else "u", [self.pack(item, depth + 1) for item in value]]
        if kind is Walk:
            return ["w", [self.pack(item, depth + 1) for item in value.parts]]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return ["u", [self.pack(item, depth + 1) for item in value]]
        if isinstance(value, dict):
            pairs = []
            for key, item in value.items():
                packed = self.pack(key, depth + 1) if _is_key(key) else ["o", type(key).__name__[:80]]
                pairs.append([packed, self.pack(item, depth + 1)])
            return ["d", pairs]
        return ["o", kind.__name__[:80]]


def _is_key(value: Any) -> bool:
    kind = type(value)
    if kind is int:
        return bool(-MAX_KEY < value < MAX_KEY)
    if kind is tuple:
        return len(value) <= MAX_DEPTH and all(_is_key(item) for item in value)
    return value is None or kind in (bool, float, str, bytes) or isinstance(value, Opaque)


def _pack_scalar(value: Any) -> Tree | None:
    kind = type(value)
    if value is None:
        return ["n"]
    if kind is bool:
        return ["b", value]
    if kind is int:
        if value.bit_length() > MAX_BITS:
            raise TreeError(f"an integer of more than {MAX_BITS} bits")
        return ["i", value]
    if kind is float:
        return ["f", value if math.isfinite(value) else str(value)]
    if kind is str:
        if len(value) > MAX_TEXT:
            raise TreeError("a text of more than a million characters")
        return ["s", value.encode("utf-8", "replace").decode("utf-8")]
    if kind is bytes:
        if len(value) > MAX_TEXT:
            raise TreeError("more than a million bytes")
        return ["y", value.hex()]
    if kind is torch.dtype:
        return ["dt", DTYPE_NAMES[value]] if value in DTYPE_NAMES else ["o", str(value)[:80]]
    if kind is torch.device:
        return ["dv", str(value)]
    return None


# Trees to values


class Environment:
    """The values that the references in trees resolve to while a program runs.

    `most_parts` bounds how many tree nodes are resolved in all, for trees that come from a worker.
    """

    def __init__(
        self,
        tensors: Sequence[Tensor],
        callables: Sequence[Any] = (),
        generators: Sequence[Any] = (),
        most_parts: int | None = None,
    ) -> None:
        self.tensors = list(tensors)
        self.parts_left = sys.maxsize if most_parts is None else most_parts
        self.results: list[Any] = []
        self.shared: list[Any] = []
        self.callables = list(callables)
        self.generators = list(generators)
        self.device = "cpu"  # of the tensors, by its name in `devices`
        # Modules are moved to these; None leaves them as they are made.
        self.module_dtype: torch.dtype | None = None
        self.module_device: str | None = None
        self.repeats = True  # False: a step with `times` is called once


def arguments_of(step: Mapping[str, Any], environment: Environment) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional and named arguments of a step."""
    args = [resolve(tree, environment) for tree in step.get("args", ())]
    kwargs = {name: resolve(tree, environment) for name, tree in step.get("kwargs", {}).items()}
    return args, kwargs


def resolve(tree: Tree, environment: Environment, depth: int = 0) -> Any:
    """Return the value of a tree. Raises TreeError for anything malformed."""
    environment.parts_left -= 1
    if depth > MAX_DEPTH or environment.parts_left < 0 or not isinstance(tree, list) or not tree:
        raise TreeError("a malformed tree")
    tag = tree[0]
    try:
        if tag in _CONTAINERS:
            return _CONTAINERS[tag](tree, environment, depth)
        if tag in _REFERENCES:
            return _REFERENCES[tag](tree, environment)
        return _SCALARS[tag](tree)
    except TreeError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        raise TreeError(f"a malformed tree: {type(error).__name__}") from None


def _resolve_list(tree: Tree, environment: Environment, depth: int) -> list[Any]:
    return [resolve(item, environment, depth + 1) for item in tree[1]]


def _resolve_dict(tree: Tree, environment: Environment, depth: int) -> Any:
    found = {}
    for key_tree, item in tree[1]:
        key = resolve(key_tree, environment, depth + 1)
        if not _is_key(key):
            raise TreeError("a dict with a key that cannot be one")
        found[key] = resolve(item, environment, depth + 1)
    return found


def _resolve_result(tree: Tree, environment: Environment) -> Any:
    value = environment.results[tree[1]]
    for key in tree[2]:
        value = value[key]
    return value


def _index(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("index")
    return value


def _float(tree: Tree) -> float:
    value = tree[1]
    if type(value) is not float and value not in ("nan", "inf", "-inf"):
        raise TypeError("float")
    return float(value)


def _int(tree: Tree) -> int:
    value = tree[1]
    if type(value) is not int or value.bit_length() > MAX_BITS:
        raise TypeError("int")
    return value


def _typed(kind: type) -> Callable[[Tree], Any]:
    def read(tree: Tree) -> Any:
        if type(tree[1]) is not kind:
            raise TypeError(kind.__name__)
        return tree[1]

    return read


_text: Callable[[Tree], str] = _typed(str)
_SCALARS: dict[str, Callable[[Tree], Any]] = {
    "n": lambda tree: None,
    "b": _typed(bool),
    "i": _int,
    "f": _float,
    "s": _typed(str),
    "y": lambda tree: bytes.fromhex(_text(tree)),
    "dt": lambda tree: DTYPES[_text(tree)],
    "dv": lambda tree: torch.device(_text(tree)[:80]),
    "o": lambda tree: Opaque(_text(tree)[:80]),
}

_CONTAINERS: dict[str, Callable[[Tree, Environment, int], Any]] = {
    "l": _resolve_list,
    "u": lambda tree, environment, depth: tuple(_resolve_list(tree, environment, depth)),
    "w": lambda tree, environment, depth: Walk(_resolve_list(tree, environment, depth)),
    "d": _resolve_dict,
}
_REFERENCES: dict[str, Callable[[Tree, Environment], Any]] = {
    "t": lambda tree, environment: environment.tensors[_index(tree[1])],
    "r": _resolve_result,
    "m": lambda tree, environment: environment.shared[_index(tree[1])],
    "c": lambda tree, environment: environment.callables[_index(tree[1])],
    "g": lambda tree, environment: environment.generators[_index(tree[1])],
    "at": lambda tree, environment: torch.device(environment.module_device or "cpu"),
}
