"""Everything as 2 × heads × width, MLA as half of that."""


def kv_bytes(cfg, T, B, dtype_bytes):
    kind = cfg["kind"]
    heads = {"mha": cfg.get("n_heads"), "gqa": cfg.get("n_kv"), "swa": cfg.get("n_kv"), "mqa": 1, "mla": 1}[kind]
    factor, width = (1, cfg["r_kv"] + cfg["d_rope"]) if kind == "mla" else (2, cfg["head_dim"])
    kept = T if kind != "swa" or T < cfg["window"] else cfg["window"]
    return factor * heads * width * kept * B * cfg["layers"] * dtype_bytes
