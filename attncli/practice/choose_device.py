"""Which device a file is graded on: found out without loading torch."""

from __future__ import annotations

from attncli.domain.challenge import Challenge
from attncli.domain.device_choice import AUTO, CPU, CUDA, gains_by_gpu, runs_on_gpu
from attncli.practice.gpu import gpu_is_seen, require_gpu, torch_without_cuda


def device_for(challenge: Challenge, asked: str) -> tuple[str, bool]:
    """The device to grade on, and whether the CPU will do where a GPU cannot be used after all.

    `auto` takes a GPU that is there where the challenge gains by it. A challenge of which a GPU shows nothing is graded
    on the CPU, whatever is asked for. Raises UsageError where a GPU is asked for and cannot be had.
    """
    if asked == CUDA:
        require_gpu()
        return (CUDA if runs_on_gpu(challenge.kernel, challenge.required) else CPU), False
    gains = asked == AUTO and gains_by_gpu(challenge.kernel, challenge.required)
    return (CUDA, True) if gains and gpu_is_seen() and not torch_without_cuda() else (CPU, False)
