"""Multiplies the latent of mla by the heads.
mla 的潜向量乘了头数。

symptom: 128 times too large: the latent is shared by all heads.
症状：多算 128 倍：潜向量由所有头共用。

cards: kv-13
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
        width = (cfg["r_kv"] + cfg["d_rope"]) * cfg.get("n_heads", 1)
    else:
        width = 2 * cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
