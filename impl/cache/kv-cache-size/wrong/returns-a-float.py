"""Computes in GiB and back, and returns a float.
换算成 GiB 再换回来，返回 float。

symptom: Not an int; a byte more or less in a large cache.
症状：不是 int；cache 大了会差几个字节。

cards: kv-04
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
        width = cfg["r_kv"] + cfg["d_rope"]
    else:
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes / 2**30 * 2**30
