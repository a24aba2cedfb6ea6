"""int8-kv-attention: compare codes number by number in Python, and attention with torch's over the decoded cache."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ..conftest import IMPL, load

module = load(IMPL / "cache/int8-kv-attention/reference.py")
append_kv, attend = module.append_kv, module.attend


def decoded(cache: dict[str, Tensor], name: str) -> Tensor:
    return cache[name].double() * cache[f"{name}_scale"].double()[..., None]


def test_codes_are_numbers_over_their_tokens_scale_rounded() -> None:
    x = torch.randn(2, 2, 3, 5, dtype=torch.float64) * torch.tensor([1e-3, 1.0, 1e3])[:, None]
    cache = append_kv({}, x, -x)
    for token, codes, scale in zip(
        x.reshape(-1, 5), cache["k"].reshape(-1, 5), cache["k_scale"].flatten(), strict=True
    ):
        step = max(abs(number) for number in token.tolist()) / 127
        assert abs(scale.item() / step - 1) < 1e-6
        assert codes.tolist() == [round(number / step) for number in token.tolist()]
    assert torch.equal(cache["v"], -cache["k"]) and torch.equal(cache["v_scale"], cache["k_scale"])
    pieces: dict[str, Tensor] = {}
    for j in range(3):
        pieces = append_kv(pieces, x[:, :, j : j + 1], -x[:, :, j : j + 1])
    assert all(torch.equal(pieces[name], cache[name]) for name in cache)


@pytest.mark.parametrize("t", [1, 7, 300])
@pytest.mark.parametrize("R", [1, 3])
def test_attention_is_torchs_over_the_decoded_cache_up_to_each_length(t: int, R: int) -> None:
    q = torch.randn(3, 2 * R, 4, dtype=torch.float64)
    cache = append_kv({}, *(torch.randn(3, 2, t, 4, dtype=torch.float64) * 3 for _ in "kv"))
    lengths = torch.tensor([t, (t + 1) // 2, 0])
    got = attend(q, cache, lengths)
    for b, n in enumerate(lengths.tolist()[:2]):
        k, v = (decoded(cache, name)[b, :, :n].repeat_interleave(R, 0) for name in "kv")
        due = F.scaled_dot_product_attention(q[b, :, None], k, v)[:, 0]
        assert torch.allclose(got[b], due, rtol=1e-12, atol=1e-12)
    assert torch.equal(got[2], torch.zeros(2 * R, 4, dtype=torch.float64))
    assert sum(part.nbytes for part in cache.values()) == 2 * 3 * 2 * t * (4 + 4)
