"""CUDA's beginning in a worker, behind all layers and before a line of a submission.

What it sets up lazily (its context, the workspace of matrix products) is set up here, so that no measurement of memory
takes it for the submission's, and a machine where it cannot begin is told so in one line.
"""

from __future__ import annotations

import errno

import torch

from .policy import MIB

# What the libraries of a GPU take of its memory for themselves.
WORKSPACE_MIB = 512


def begin(memory_mib: int) -> None:
    """Makes the context and holds the submission to `memory_mib` of the device's memory. Raises OSError."""
    if not torch.backends.cuda.is_built():
        raise OSError(errno.ENODEV, f"PyTorch {torch.__version__} is built without CUDA")
    try:
        torch.cuda.init()
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, (memory_mib + WORKSPACE_MIB) * MIB / total))
        square = torch.ones(2, 2, device="cuda")
        (square @ square).sum().item()
    except RuntimeError as error:
        raise OSError(errno.EIO, f"CUDA does not begin in the sandbox: {str(error).splitlines()[0][:200]}") from error
