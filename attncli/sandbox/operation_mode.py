"""A look at each operation that torch carries out, below autograd."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class OperationMode(TorchDispatchMode):
    """While it is active, subclasses say what comes of an operation."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise torch imports all of its compiler (seconds) at the first operation seen.
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return self.carry_out(func, args, kwargs or {})

    @abstractmethod
    def carry_out(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
