"""Measure a call: the largest tensor that it creates, and the numbers that it keeps for the backward pass."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def numbers_behind(result: Any, given: Collection[int] = ()) -> int:
    """Return the most numbers stored behind one tensor of `result`. A view counts as its whole storage, or as 0 if that
    storage is in `given`."""
    found = [part for part in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(part, Tensor)]
    return max((_numbers(tensor, given) for tensor in found), default=0)


def _numbers(tensor: Tensor, given: Collection[int]) -> int:
    try:
        storage = tensor.untyped_storage()
        return 0 if storage.data_ptr() in given else storage.nbytes() // tensor.element_size()
    except (NotImplementedError, RuntimeError):  # a tensor of vmap has no storage
        return tensor.numel()


class Largest(TorchFunctionMode):
    """Record the largest tensor that torch's functions return; views of the tensors `given` count as 0."""

    def __init__(self, *given: Tensor) -> None:
        super().__init__()
        self.given = {tensor.untyped_storage().data_ptr() for tensor in given}
        self.numbers = 0

    def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        self.numbers = max(self.numbers, numbers_behind(result, self.given))
        return result


class LargestInside(TorchDispatchMode):
    """Record the largest tensor that single operations create, in backward passes too."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, operation: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = operation(*args, **(kwargs or {}))
        self.numbers = max(self.numbers, numbers_behind(result))
        return result


class Saved:
    """Count the numbers that autograd keeps, each storage once."""

    def __init__(self) -> None:
        self.storages: dict[int, int] = {}
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._keep, lambda tensor: tensor)

    def _keep(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        self.storages[storage.data_ptr()] = storage.nbytes() // tensor.element_size()
        return tensor

    @property
    def numbers(self) -> int:
        return sum(self.storages.values())

    def __enter__(self) -> Saved:
        self._hooks.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._hooks.__exit__(*error)
