"""Profiles: the dtype, amplitude and memory layout in which a case is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attncli.judge.cases.facts import Facts
from attncli.judge.checks import CHECKS
from attncli.sandbox import placement

# The profile in which another device is tried; what names a device there names that one, and elsewhere the CPU.
ANOTHER_DEVICE = "meta"


@dataclass(frozen=True, slots=True)
class Profile:
    """`gain` and `offset` act on drawn floating values; `layout` "strided" stores tensors transposed or spaced.

    `device` is where the tensors lie when a program runs; they are drawn on the CPU, the same ones for every device.
    """

    name: str
    dtype: torch.dtype = torch.float32
    gain: float = 1.0
    offset: float = 0.0
    layout: str = "contiguous"
    device: str = "cpu"


_PLAIN: dict[str, Profile] = {
    "ordinary": Profile("ordinary"),
    "float64": Profile("float64", torch.float64),
    "bf16": Profile("bf16", torch.bfloat16),
    "fp16": Profile("fp16", torch.float16),
    "strided": Profile("strided", layout="strided"),
    "meta": Profile("meta", device="meta"),
}


def profile_of(name: str, facts: Facts) -> Profile:
    """The profile of that name; a challenge sets its own amplitudes with LARGE and OFFSET."""
    if name == "large":
        return Profile("large", gain=float(facts.large))
    if name == "offset":
        return Profile("offset", offset=float(facts.offset))
    return _PLAIN[name]


def graded_on(profile: Profile, device: str) -> Profile:
    """The profile in a grading on another device than the CPU: that is where its device check is made, too."""
    return replace(profile, device=device) if device in placement.AWAY else profile


def strata(check: str, facts: Facts, device: str = placement.CPU) -> tuple[Profile, ...]:
    """The profiles that a check draws from, one run each."""
    names = facts.profiles.get(check, CHECKS[check].strata)
    return tuple(graded_on(profile_of(name, facts), device) for name in names)


def relayout(tensor: Tensor, turn: int) -> Tensor:
    """The same values in another memory layout: transposed, as heads cut out of a projection, or every second element
    of longer rows.

    The rows are one longer than twice, so that no two dimensions can be merged without a copy.
    """
    if not tensor.is_contiguous():
        return tensor
    if tensor.dim() >= 3 and turn % 4 == 0:
        return tensor.transpose(-2, -3).contiguous().transpose(-2, -3)
    if tensor.dim() >= 2 and turn % 2 == 0:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    if tensor.dim() >= 1 and tensor.numel() > 0:
        spaced = torch.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1] + 1), dtype=tensor.dtype)
        spaced[..., :-1:2] = tensor
        return spaced[..., :-1:2]
    return tensor
