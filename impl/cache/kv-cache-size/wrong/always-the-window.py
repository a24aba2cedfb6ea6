"""Takes the window even where there are fewer tokens.
token 不满一个窗口时也按窗口算。

symptom: Short sequences look as expensive as long ones.
症状：短序列显得和长序列一样贵。

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
        tokens = cfg["window"]
    return cfg["layers"] * B * tokens * width * dtype_bytes
