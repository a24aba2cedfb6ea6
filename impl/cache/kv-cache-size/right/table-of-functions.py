"""A table from kind to numbers per token; math.prod."""
import math

NUMBERS = {
    "mha": lambda c: 2 * c["n_heads"] * c["head_dim"],
    "gqa": lambda c: 2 * c["n_kv"] * c["head_dim"],
    "mqa": lambda c: 2 * c["head_dim"],
    "mla": lambda c: c["r_kv"] + c["d_rope"],
}
NUMBERS["swa"] = NUMBERS["gqa"]


def kv_bytes(cfg, T, B, dtype_bytes):
    seen = min(T, cfg["window"]) if cfg["kind"] == "swa" else T
    return math.prod((cfg["layers"], B, seen, NUMBERS[cfg["kind"]](cfg), dtype_bytes))
