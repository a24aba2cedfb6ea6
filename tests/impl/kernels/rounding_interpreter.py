"""Triton's interpreter with the bfloat16 rounding of a GPU, and a faster start.

Triton 3.7 stores bfloat16 as 16-bit integers. It truncates float32 instead of rounding it to nearest, and multiplies
matrices of those integers; here torch does both. It also replaces the language's functions by its own at every launch
and restores them, which takes longer than a small kernel: here they stay replaced.
"""

from typing import Any

import numpy as np
import torch
import triton.language as tl
import triton.language.core as core
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

# Triton looks for these two among the globals of a kernel, and puts its functions into those that it finds.
LANGUAGE = (tl, core)
_cast, _dot = InterpreterBuilder.cast_impl, InterpreterBuilder.create_dot


class Installed:
    """Restore nothing after a launch."""

    def restore(self) -> None:
        pass


def install() -> None:
    """Make the interpreter round bfloat16 to nearest and multiply its values."""
    interpreter._patch_lang(cast)  # by whose globals it finds both
    interpreter._patch_lang = lambda function: Installed()
    InterpreterBuilder.cast_impl = cast  # type: ignore[method-assign]
    InterpreterBuilder.create_dot = dot  # type: ignore[method-assign]


def cast(self: Any, source: Any, to: Any) -> Any:
    if source.dtype.scalar == tl.bfloat16 and to.scalar != tl.bfloat16:
        source = _cast(self, source, tl.float32)
    if to.scalar != tl.bfloat16 or source.dtype.scalar == tl.bfloat16:
        return _cast(self, source, to)
    rounded = torch.from_numpy(np.ascontiguousarray(source.data)).to(torch.bfloat16)
    return TensorHandle(rounded.view(torch.uint16).numpy(), tl.bfloat16)


def dot(self: Any, a: Any, b: Any, *others: Any) -> Any:
    return _dot(self, _widened(self, a), _widened(self, b), *others)


def _widened(builder: Any, operand: Any) -> Any:
    return _cast(builder, operand, tl.float32) if operand.dtype.scalar == tl.bfloat16 else operand
