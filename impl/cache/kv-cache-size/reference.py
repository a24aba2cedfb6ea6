"""Bytes of a KV cache: layers × sequences × tokens × numbers kept per token and layer × bytes of a number.

The kinds of attention differ in how many numbers a token leaves in each layer. Decisions:
- mha, gqa, mqa keep a key and a value for each of their KV heads: all heads, the groups, one;
- mla keeps one latent and one rotary key for all heads, and no values: these are made from the latent;
- swa keeps no more tokens than its window; it is counted like gqa otherwise;
- cfg may hold more keys than a kind needs.

DeepSeek-V2, arXiv 2405.04434, §2.1.4 has the table of the numbers per token.
"""

from __future__ import annotations

from typing import Any


def kv_bytes(cfg: dict[str, Any], T: int, B: int, dtype_bytes: int) -> int:
    kind = cfg["kind"]
    tokens = min(T, cfg["window"]) if kind == "swa" else T
    if kind == "mla":
        numbers = cfg["r_kv"] + cfg["d_rope"]
    elif kind == "mqa":
        numbers = 2 * cfg["head_dim"]
    elif kind == "mha":
        numbers = 2 * cfg["n_heads"] * cfg["head_dim"]
    else:  # gqa and swa
        numbers = 2 * cfg["n_kv"] * cfg["head_dim"]
    return int(cfg["layers"] * B * tokens * numbers * dtype_bytes)
