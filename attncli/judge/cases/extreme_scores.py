"""Queries and keys whose scores are extreme: what attention has to survive, whatever else a challenge makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Pair = tuple[Tensor, Tensor]
_FAR, _LOW, _BEYOND_BFLOAT16 = 200.0, 3e4, 1024.0


def _along_one_axis(q: Tensor, k: Tensor, levels: Tensor) -> Pair:
    """Scores, divided by √d, near `levels` (S,) for every query; what lies in the other axes stays."""
    width = q.shape[-1]
    q, k = q.clone(), k.clone()
    size = math.sqrt(float(levels.abs().max()) * math.sqrt(width))
    q[..., 0] = size
    k[..., 0] = levels / float(levels.abs().max()) * size
    return q, k


def far_apart(q: Tensor, k: Tensor) -> Pair:
    """±200, the two largest half a unit apart: exp of them overflows."""
    count = k.shape[-2]
    levels = torch.linspace(_FAR, -_FAR, count, dtype=torch.float64) if count > 1 else torch.tensor([_FAR]).double()
    if count > 2:
        levels[1] = _FAR - 0.5
    q, k = _along_one_axis(q, k, levels.roll(count // 2))
    q[..., 1::2, 0] *= -1.0
    return q, k


def later_keys_lead(q: Tensor, k: Tensor) -> Pair:
    """Each pair of keys leads the one before by a lot: a hidden key, if it counted, would win."""
    count = k.shape[-2]
    place = torch.arange(count, dtype=torch.float64)
    levels = 2 * _FAR * (place.div(2, rounding_mode="floor") / max(1.0, (count - 1) // 2)) - _FAR + 0.5 * (place % 2)
    return _along_one_axis(q, k, levels)


def very_low(q: Tensor, k: Tensor) -> Pair:
    """Near −3·10⁴, the last key near 3·10⁴: no finite number stands for −∞."""
    levels = torch.full((k.shape[-2],), -_LOW, dtype=torch.float64)
    levels[1::2] += 16.0
    if len(levels) > 1:
        levels[-1] = _LOW
    return _along_one_axis(q, k, levels)


def beyond_float16(q: Tensor, k: Tensor) -> Pair:
    """Products near 90 000, which float32 tells apart exactly, and by so much that its own rounding does not show."""
    q, k = torch.zeros_like(q), torch.zeros_like(k)
    q[..., 0] = 300.0
    k[..., 0] = 300.0 - 0.25 * torch.arange(k.shape[-2], dtype=torch.float64).flip(0)
    return q, k


def tied_in_bfloat16(q: Tensor, k: Tensor) -> Pair:
    """Near 1024, where bfloat16 numbers are 8 apart; float32 holds every product exactly."""
    q, k = ((2.0 * tensor).round().clamp(-4.0, 4.0) / 2.0 for tensor in (q, k))
    return _along_one_axis(q, k, torch.full((k.shape[-2],), _BEYOND_BFLOAT16, dtype=torch.float64))


SCORES: dict[str, Callable[[Tensor, Tensor], Pair]] = {
    "far-apart": far_apart,
    "later-keys-lead": later_keys_lead,
    "very-low": very_low,
    "beyond-float16": beyond_float16,
    "tied-in-bfloat16": tied_in_bfloat16,
}
# Where a score's rounding, times what it is the gradient of, is larger than any tolerance.
WITHOUT_GRADIENTS = frozenset({"very-low", "beyond-float16"})


def masks_over(shape: Sequence[int], ranks: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """Shapes that broadcast to `shape`: of each allowed rank whole, and with each dimension 1; without repetition.

    The two last dimensions come first, then what a padding mask has.
    """
    full, found = tuple(shape), []
    for rank in ranks or [2, len(full), *range(1, len(full))]:
        if rank > len(full):
            continue
        whole = full[len(full) - rank :]
        found.append(whole)
        if rank > 2:
            found.append((whole[0], *[1] * (rank - 2), whole[-1]))
        found += [tuple(1 if i == one else n for i, n in enumerate(whole)) for one in range(rank)]
        found.append((*[1] * (rank - 1), whole[-1]))
    return list(dict.fromkeys(found))
