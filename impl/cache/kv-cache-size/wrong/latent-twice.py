"""Counts the latent of mla twice, for keys and values.
mla 的潜向量按 key、value 各算了一份。

symptom: Nearly twice too large: keys and values share one latent.
症状：差不多多算一倍：key 和 value 共用一个潜向量。

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
        width = 2 * cfg["r_kv"] + cfg["d_rope"]
    else:
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
