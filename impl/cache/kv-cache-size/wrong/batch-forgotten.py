"""Forgets the batch.
忘了乘 batch。

symptom: The cache of one sequence.
症状：只是一个序列的 cache。

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
    return cfg["layers"] * tokens * width * dtype_bytes
