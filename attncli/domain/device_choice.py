"""Which device a challenge is graded on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CPU: Final = "cpu"
CUDA: Final = "cuda"
AUTO: Final = "auto"
CHOICES = (AUTO, CPU, CUDA)


def runs_on_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Whether a GPU shows anything of a challenge: of a kernel, and of what has to stay on the device of its inputs.

    The others compute with plain numbers, or are asked for on the CPU: they are graded there whatever is asked.
    """
    return kernel or "device" in required


def gains_by_gpu(kernel: bool, required: Sequence[str]) -> bool:
    """Whether `auto` takes a GPU that is there: for kernels, which are compiled and run in bfloat16 nowhere else, and
    where memory is asked for, which its allocator tells to the byte.

    Devices are no reason: they are proved without a GPU as well, behind a sandbox that covers more.
    """
    return kernel or (runs_on_gpu(kernel, required) and "memory" in required)
