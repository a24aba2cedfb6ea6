"""kv-cache-size: compare with the bytes of real tensors, and with published figures."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

kv_bytes = load(IMPL / "cache/kv-cache-size/reference.py").kv_bytes
SHAPES = {
    "mha": lambda c, t: [(c["n_heads"], t, c["head_dim"])] * 2,
    "gqa": lambda c, t: [(c["n_kv"], t, c["head_dim"])] * 2,
    "mqa": lambda c, t: [(1, t, c["head_dim"])] * 2,
    "mla": lambda c, t: [(t, c["r_kv"]), (t, c["d_rope"])],
    "swa": lambda c, t: [(c["n_kv"], min(t, c["window"]), c["head_dim"])] * 2,
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("dtype", [torch.int8, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("T", [1, 5, 9])
def test_it_is_what_the_tensors_take(kind: str, dtype: torch.dtype, T: int) -> None:
    cfg = {"kind": kind, "layers": 3, "n_heads": 6, "n_kv": 2, "head_dim": 4, "r_kv": 7, "d_rope": 2, "window": 5}
    shapes = [(2, *shape) for _ in range(3) for shape in SHAPES[kind](cfg, T)]
    assert kv_bytes(cfg, T, 2, dtype.itemsize) == sum(torch.empty(shape, dtype=dtype).nbytes for shape in shapes)


def test_a_token_of_llama_3_70b_takes_320_kib_and_128k_tokens_40_gib() -> None:
    cfg = {"kind": "gqa", "layers": 80, "n_kv": 8, "head_dim": 128}
    assert kv_bytes(cfg, 1, 1, 2) == 320 * 2**10
    assert kv_bytes(cfg, 131_072, 1, 2) == 40 * 2**30
