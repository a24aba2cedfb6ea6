"""rope-kv-cache: compare with full attention over keys rotated as complex numbers, row by row, in float64."""

from __future__ import annotations

import cmath
import math

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

rope_decode_step = load(IMPL / "cache/rope-kv-cache/reference.py").rope_decode_step


def turned(x: Tensor, place: int, base: float) -> list[complex]:
    pairs = x.reshape(-1, 2).tolist()
    return [complex(a, b) * cmath.exp(1j * place * base ** (-2 * i / x.numel())) for i, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize("base", [10000.0, 7.5])
@pytest.mark.parametrize(
    "places", [[[0, 0], [1, 1], [2, 2]], [[5, 900], [6, 901], [7, 902]], [[9, 2], [3, 2], [70, 0]]]
)
def test_each_step_is_attention_over_all_turned_keys(places: list[list[int]], base: float) -> None:
    B, H, d, seen, cache = 2, 3, 6, [], {}
    for pos in places:
        q, k, v = (torch.randn(B, H, 1, d, dtype=torch.float64) for _ in range(3))
        seen.append((pos, k, v))
        out, cache = rope_decode_step(q, k, v, cache, torch.tensor(pos)[:, None], base)
        for b in range(B):
            for h in range(H):
                query = turned(q[b, h, 0], pos[b], base)
                keys = [turned(key[b, h, 0], at[b], base) for at, key, _ in seen]
                scores = [sum((x * y.conjugate()).real for x, y in zip(query, key, strict=True)) for key in keys]
                weights = torch.softmax(torch.tensor(scores, dtype=torch.float64) / math.sqrt(d), dim=0)
                due = sum(w * value[b, h, 0] for w, (_, _, value) in zip(weights, seen, strict=True))
                assert torch.allclose(out[b, h, 0], due, rtol=1e-9, atol=1e-9)
    assert sum(t.numel() for t in cache.values()) == 2 * B * H * len(places) * d
    assert math.isclose(abs(turned(q[0, 0, 0], 3, base)[0]), abs(complex(*q[0, 0, 0, :2].tolist())))
