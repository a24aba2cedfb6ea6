"""Counts the keys and forgets the values.
只算了 key，忘了 value。

symptom: Half the memory, and an out-of-memory error at half the load.
症状：算出来只有一半，负载才到一半就爆显存。

cards: kv-07
rung: solved
"""

def kv_bytes(cfg, T, B, dtype_bytes):
    kind, tokens = cfg["kind"], T
    if kind == "mha":
        width = cfg["n_heads"] * cfg["head_dim"]
    elif kind == "gqa":
        width = cfg["n_kv"] * cfg["head_dim"]
    elif kind == "mqa":
        width = cfg["head_dim"]
    elif kind == "mla":
        width = cfg["r_kv"] + cfg["d_rope"]
    else:
        width = cfg["n_kv"] * cfg["head_dim"]
        tokens = min(T, cfg["window"])
    return cfg["layers"] * B * tokens * width * dtype_bytes
