"""Puts the factor 2 in front of every kind, mla too.
每一种都乘 2，mla 也不例外。

symptom: MLA looks twice as expensive as it is.
症状：MLA 显得贵了一倍。

cards: kv-06, kv-13
rung: solved
"""

def kv_bytes(cfg, T, B, dtype_bytes):
    kind, tokens = cfg["kind"], T
    if kind == "mha":
        width = 2 * cfg["n_heads"] * cfg["head_dim"]
    elif kind == "gqa":
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
    elif kind == "mqa":
        width = 2 * cfg["head_dim"]
    elif kind == "mla":
        width = 2 * (cfg["r_kv"] + cfg["d_rope"])
    else:
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
