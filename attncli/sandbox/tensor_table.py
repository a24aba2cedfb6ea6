"""Tensors as entries of a table, with raw bytes in its order. Nothing here trusts a length before it is bounded."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import torch
from torch import Tensor

from . import placement

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
}
EIGHT_BIT_FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2)
DTYPES |= {str(dtype).removeprefix("torch."): dtype for dtype in EIGHT_BIT_FLOATS}
DTYPES["complex64"] = torch.complex64
DTYPES["complex128"] = torch.complex128
DTYPE_NAMES: dict[torch.dtype, str] = {dtype: name for name, dtype in DTYPES.items()}

MAX_NODES = 20_000
MAX_DIMS = 8
MAX_ELEMENTS = 2**40


class TreeError(ValueError):
    """A tree or tensor table that does not follow the format."""


def describe_tensor(tensor: Tensor, keep_strides: bool = False, values: bool = True) -> dict[str, Any]:
    """The table entry of a tensor; with `keep_strides` its storage layout travels too (inputs in odd layouts), without
    `values` nothing but the form of one that is on another device."""
    entry: dict[str, Any] = {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}
    if tensor.device.type != "cpu":
        return entry | _described_away(tensor, values)
    if keep_strides and not tensor.is_contiguous():
        storage = tensor.untyped_storage()
        return {
            **entry,
            "stride": list(tensor.stride()),
            "offset": tensor.storage_offset(),
            "nbytes": storage.nbytes(),
        }
    return {**entry, "nbytes": tensor.numel() * tensor.element_size()}


def _described_away(tensor: Tensor, values: bool) -> dict[str, Any]:
    """A tensor without values says so; one that lies on another device says where, its values travel all the same."""
    place = placement.place_of(tensor)
    if place not in placement.AWAY or not values:
        return {"device": "meta", "nbytes": 0}
    return {"on": place, "nbytes": tensor.numel() * tensor.element_size()}


def bytes_of(tensor: Tensor, keep_strides: bool = False) -> bytes:
    """The raw bytes that go with `describe_tensor` (without numpy, which is not needed here)."""
    if tensor.device.type != "cpu":
        return placement.raw_bytes(tensor) if placement.place_of(tensor) in placement.AWAY else b""
    tensor = tensor.detach()
    if keep_strides and not tensor.is_contiguous():
        storage = tensor.untyped_storage()
        return ctypes.string_at(storage.data_ptr(), storage.nbytes())
    tensor = tensor.contiguous().resolve_conj().resolve_neg()
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def read_table(table: Any, payload: memoryview, writable_strides: bool = False) -> list[Tensor]:
    """The tensors of a table over `payload`, each on memory of its own.

    Every number is bounded by the payload's length before anything is allocated; the whole payload must be used.
    `writable_strides` allows entries with a layout (the worker's side, whose input comes from the judge).
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
    if not _sizes(shape) or type(size) is not int or not 0 <= size <= len(rest):
        raise TreeError("a tensor with impossible sizes")
    count = math.prod(shape)
    # A tensor without elements may not have sizes either that torch cannot multiply.
    if math.prod(n for n in shape if n) >= MAX_ELEMENTS:
        raise TreeError("a tensor with impossible sizes")
    if entry.get("on", placement.CUDA) not in placement.AWAY:
        raise TreeError("a tensor on a device that nobody knows")
    if entry.get("device") == "meta":
        if size != 0:
            raise TreeError("a tensor without values that has bytes")
        return torch.empty(shape, dtype=dtype, device="meta"), 0
    if strided and "stride" in entry:
        flat = _flat(rest[:size], dtype)
        return flat.as_strided(shape, entry["stride"], entry["offset"]), size
    if count * dtype.itemsize != size:
        raise TreeError("a tensor whose bytes do not fit its shape")
    return _flat(rest[:size], dtype).reshape(shape), size


def _sizes(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) <= MAX_DIMS and all(type(n) is int and 0 <= n < 2**40 for n in shape)


def _flat(chunk: memoryview, dtype: torch.dtype) -> Tensor:
    if not chunk:
        return torch.empty(0, dtype=dtype)
    if dtype is torch.bool:
        return torch.frombuffer(bytearray(chunk), dtype=torch.uint8) != 0
    return torch.frombuffer(bytearray(chunk), dtype=dtype)
