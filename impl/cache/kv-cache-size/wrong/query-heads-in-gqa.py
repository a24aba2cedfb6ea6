"""Multiplies by the query heads in gqa.
gqa 也乘了 query 头数。

symptom: Too large by the group size: 8 times for 64 heads in 8 groups.
症状：多出一个组大小的倍数：64 个头分 8 组就多算 8 倍。

cards: kv-05, kv-10
rung: solved
"""

def kv_bytes(cfg, T, B, dtype_bytes):
    kind, tokens = cfg["kind"], T
    if kind == "mha":
        width = 2 * cfg["n_heads"] * cfg["head_dim"]
    elif kind == "gqa":
        width = 2 * cfg.get("n_heads", cfg["n_kv"]) * cfg["head_dim"]
    elif kind == "mqa":
        width = 2 * cfg["head_dim"]
    elif kind == "mla":
        width = cfg["r_kv"] + cfg["d_rope"]
    else:
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
