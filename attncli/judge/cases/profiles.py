"""Profiles: the dtype, amplitude and memory layout in which a case is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attncli.judge.cases.facts import Facts
from attncli.judge.check_table import CHECKS


@dataclass(frozen=True, slots=True)
class Profile:
    """`gain` and `offset` act on drawn floating values; `layout` "strided" stores tensors transposed or spaced."""

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


def strata(check: str, facts: Facts) -> tuple[Profile, ...]:
    """The profiles that a check draws from, one run each."""
    names = facts.profiles.get(check, CHECKS[check].strata)
    return tuple(profile_of(name, facts) for name in names)


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
