"""The tensors in nested values: what there is of them, and the same value with others in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor

# How deeply values are nested that cross between processes; what lies deeper is not looked at.
MAX_DEPTH = 16


class Walk:
    """An iterator: its parts come one after the other, and only once."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self._left = iter(parts)

    def __iter__(self) -> Walk:
        return self

    def __next__(self) -> Any:
        return next(self._left)


def tensors_in(value: Any, depth: int = 0) -> Iterable[Tensor]:
    """Every tensor in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        yield value
    elif depth <= MAX_DEPTH and isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item, depth + 1)
    elif depth <= MAX_DEPTH and isinstance(value, (dict, Walk)):
        for item in value.values() if isinstance(value, dict) else value.parts:
            yield from tensors_in(item, depth + 1)


def with_each(value: Any, change: Callable[[Tensor], Tensor], depth: int = 0) -> Any:
    """The value with each tensor in nested lists, tuples and dicts changed; anything else as it is."""
    if isinstance(value, Tensor):
        return change(value)
    if depth <= MAX_DEPTH and type(value) in (list, tuple):
        return type(value)(with_each(part, change, depth + 1) for part in value)
    if depth <= MAX_DEPTH and type(value) is dict:
        return {key: with_each(part, change, depth + 1) for key, part in value.items()}
    return value
