"""Applies the window wherever cfg has one.
只要 cfg 里有 window 就截断。

symptom: Too small for full attention.
症状：全注意力的会算少。

cards: kv-20
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
    tokens = min(T, cfg.get("window", T))
    return cfg["layers"] * B * tokens * width * dtype_bytes
