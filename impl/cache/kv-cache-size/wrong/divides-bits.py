"""Counts bits and divides them by 8 with /.
先算位数，再用 / 除以 8。

symptom: A float in between: beyond 2⁵³ the last digits are lost.
症状：中间成了浮点数：超过 2⁵³ 就丢掉末位。

cards: kv-12
rung: solved
"""

from typing import Any


def kv_bytes(cfg: dict[str, Any], T: int, B: int, dtype_bytes: int) -> int:
    kind = cfg["kind"]
    tokens = T
    if kind == "mha":
        numbers = 2 * cfg["n_heads"] * cfg["head_dim"]
    elif kind == "gqa":
        numbers = 2 * cfg["n_kv"] * cfg["head_dim"]
    elif kind == "mqa":
        numbers = 2 * cfg["head_dim"]
    elif kind == "mla":
        numbers = cfg["r_kv"] + cfg["d_rope"]
    elif kind == "swa":
        numbers = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    else:
        raise ValueError(f"unknown kind of attention: {kind!r}")
    total = int(cfg["layers"]) * int(B) * int(tokens) * int(numbers)
    bits = total * int(dtype_bytes) * 8
    return int(bits / 8)
