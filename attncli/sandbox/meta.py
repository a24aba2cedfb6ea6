"""Running on the meta device without torch's compiler.

Some operations are written in Python there, and torch marks those for its compiler at their first call: that imports
all of `torch._dynamo`, which takes longer than a whole grading. While nothing is compiled, a stand-in is enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

_NAME = "torch._dynamo"


def _left_alone(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    return function


@contextmanager
def without_compiler() -> Iterator[None]:
    """Within it, marking a function for the compiler leaves it as it is. Does nothing where the compiler is loaded."""
    if _NAME in sys.modules:
        yield
        return
    stand_in = ModuleType(_NAME)
    stand_in.disable = _left_alone  # type: ignore[attr-defined]
    sys.modules[_NAME] = stand_in
    torch._dynamo = stand_in
    try:
        yield
    finally:
        sys.modules.pop(_NAME, None)
        if getattr(torch, "_dynamo", None) is stand_in:
            del torch._dynamo
