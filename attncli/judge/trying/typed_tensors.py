"""Tensors that a learner types: made by the few functions of torch that a case needs, of bounded size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attncli.sandbox.tensor_table import DTYPE_NAMES, MAX_DIMS

MOST_ELEMENTS = 65_536
# What `torch.NAME` may stand for, where a challenge takes a function.
FUNCTIONS = ("relu", "tanh", "sigmoid", "exp", "abs", "square", "sin", "cos")
CASTS = ("float", "double", "half", "bfloat16", "long", "int", "bool")
MOVES = ("reshape", "view", "transpose", "unsqueeze")
_SHAPED = {"zeros": torch.zeros, "ones": torch.ones, "randn": torch.randn, "rand": torch.rand}
_CUT = {"tril": torch.tril, "triu": torch.triu}
MAKERS = ("tensor", *_SHAPED, "full", "arange", "eye", "randint", *_CUT)


class TooManyElements(Exception):
    """More numbers than a case may hold."""


class TensorMaker:
    """Makes the tensors of one case: the same text gives the same numbers, and together they hold `MOST_ELEMENTS`.

    What torch or Python raises at arguments that do not fit passes.
    """

    def __init__(self) -> None:
        self._left = MOST_ELEMENTS
        self._random = torch.Generator().manual_seed(0)

    def make(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Tensor:
        """`torch.NAME(*args, **options)`, of which `dtype` alone is an option."""
        if set(options) - {"dtype"} or not isinstance(options.get("dtype"), torch.dtype | None):
            raise TypeError("dtype=torch.float32 and the like is the only option here")
        if name == "tensor":
            return self._tensor(*args, **options)
        if name in _SHAPED:
            return self._shaped(_SHAPED[name], args, options)
        if name in _CUT:
            return _CUT[name](*self._given_tensor(args), **options)
        return self._by_numbers(name, args, options)

    def combine(self, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """A sum, product or the like of two tensors, or of one and a number."""
        shapes = [value.shape for value in (left, right) if isinstance(value, Tensor)]
        self.take(math.prod(torch.broadcast_shapes(*shapes)))
        return operation(left, right)

    def take(self, elements: int) -> None:
        """Room for so many numbers more. Raises TooManyElements."""
        self._left -= elements
        if elements < 0 or self._left < 0:
            raise TooManyElements

    def _tensor(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        if isinstance(values, Tensor):
            raise TypeError("torch.tensor takes numbers")
        self.take(sum(1 for _ in _leaves(values)))
        return torch.tensor(values, dtype=dtype)

    def _shaped(self, function: Callable[..., Tensor], args: Sequence[Any], options: Mapping[str, Any]) -> Tensor:
        shape = self._room_for(args)
        random = {"generator": self._random} if function in (torch.randn, torch.rand) else {}
        return function(shape, **random, **options)

    def _room_for(self, args: Sequence[Any]) -> tuple[int, ...]:
        shape = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        if len(shape) > MAX_DIMS or not all(type(size) is int and size >= 0 for size in shape):
            raise TypeError(f"a shape is up to {MAX_DIMS} whole numbers from 0 on")
        self.take(math.prod(shape))
        return tuple(shape)

    def _by_numbers(self, name: str, args: Sequence[Any], options: Mapping[str, Any]) -> Tensor:
        if name == "full":
            shape, value = args
            return torch.full(self._room_for([shape]), value, **options)
        if name == "randint":
            low, high, shape = args if len(args) == 3 else (0, *args)
            return torch.randint(low, high, self._room_for([shape]), generator=self._random, **options)
        if name == "eye":
            self._room_for([args[0], args[-1]])
            return torch.eye(*args, **options)
        start, end, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        self.take(max(0, math.ceil((end - start) / step)))
        return torch.arange(*args, **options)

    def _given_tensor(self, args: Sequence[Any]) -> Sequence[Any]:
        if not args or not isinstance(args[0], Tensor):
            raise TypeError("the first argument is a tensor")
        self.take(args[0].numel())
        return args


def moved(tensor: Tensor, name: str, args: Sequence[Any]) -> Tensor:
    """A method that gives the same numbers in another shape or dtype."""
    found = getattr(tensor, name)(*args)
    if not isinstance(found, Tensor) or found.dtype not in DTYPE_NAMES:
        raise TypeError(f"{name} gives no tensor here")
    return found


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
