"""Counts queries as well.
把 query 也算进去了。

symptom: One and a half times too large: queries are used once.
症状：多算一半：query 只用一次。

cards: kv-01
rung: solved
"""

def kv_bytes(cfg, T, B, dtype_bytes):
    kind, tokens = cfg["kind"], T
    if kind == "mha":
        width = 3 * cfg["n_heads"] * cfg["head_dim"]
    elif kind == "gqa":
        width = 3 * cfg["n_kv"] * cfg["head_dim"]
    elif kind == "mqa":
        width = 3 * cfg["head_dim"]
    elif kind == "mla":
        width = cfg["r_kv"] + cfg["d_rope"]
    else:
        width = 3 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
