"""Reads all keys of cfg, needed or not.
不管用不用，先把 cfg 的键全读出来。

symptom: KeyError for a config that has only what its kind needs.
症状：配置里只写了该种类需要的键，就 KeyError。

cards: kv-07
rung: solved
"""

def kv_bytes(cfg, T, B, dtype_bytes):
    heads, groups, window = cfg["n_heads"], cfg["n_kv"], cfg["window"]
    kind, tokens = cfg["kind"], T
    if kind == "mha":
        width = 2 * cfg["n_heads"] * cfg["head_dim"]
    elif kind == "gqa":
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
    elif kind == "mqa":
        width = 2 * cfg["head_dim"]
    elif kind == "mla":
        width = cfg["r_kv"] + cfg["d_rope"]
    else:
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
