"""Triton's interpreter with bfloat16 as a GPU has it, and quicker to begin.

Triton 3.7 keeps bfloat16 as whole numbers of 16 bits. It cuts float32 off instead of rounding it to the nearest, and
multiplies matrices of those whole numbers; both are done by torch here. It also puts its own functions in the place of
the language's at every launch and takes them away again, which takes longer than a small kernel: here they stay.
"""

from __future__ import annotations

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
    """What a launch takes away when it is over: nothing."""

    def restore(self) -> None:
        pass


def install() -> None:
    """From here on the interpreter rounds, and multiplies what is meant."""
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
