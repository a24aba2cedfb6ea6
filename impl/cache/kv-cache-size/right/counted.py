"""Adds up layer by layer, as a server would allot it."""


def kv_bytes(cfg, T, B, dtype_bytes):
    total = 0
    for _ in range(cfg["layers"]):
        match cfg["kind"]:
            case "mla":
                parts = [cfg["r_kv"], cfg["d_rope"]]
            case "mqa":
                parts = [cfg["head_dim"]] * 2
            case "mha":
                parts = [cfg["n_heads"] * cfg["head_dim"]] * 2
            case _:
                parts = [cfg["n_kv"] * cfg["head_dim"]] * 2
        tokens = T
        if cfg["kind"] == "swa" and cfg["window"] < T:
            tokens = cfg["window"]
        total += sum(B * tokens * part * dtype_bytes for part in parts)
    return total
