"""Record the operations that PyTorch runs for a line of Python, the sizes of their results, and their FLOPs."""

from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class RecordedOps(TorchDispatchMode):
    """Record each operation's name with the element count of its result (0 if that is no tensor).

    `flops` equals the count of `FlopCounterMode`, from the same table.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[tuple[str, int]] = []
        self.flops = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing is compiled here, and skipping Dynamo imports it, which takes seconds."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.sizes.append((str(func), result.numel() if isinstance(result, Tensor) else 0))
        if count := flop_registry.get(func.overloadpacket):
            self.flops += count(*args, **(kwargs or {}), out_val=result)
        return result

    def sizes_of(self, name: str) -> list[int]:
        """Return the result sizes of the operations with `name` in their name, in order."""
        return [size for operation, size in self.sizes if name in operation]
