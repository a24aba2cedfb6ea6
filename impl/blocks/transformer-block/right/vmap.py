"""torch.vmap over the batch; one sequence at a time."""

import math

import torch
import torch.nn.functional as F


def block(x, params, n_heads, norm, causal):
    wide = torch.promote_types(x.dtype, torch.float32)
    p = {name: value.to(wide) for name, value in params.items()}
    T, D = x.shape[1:]
    hidden = torch.full((T, T), float("-inf"), dtype=wide, device=x.device).triu(1) if causal else 0.0

    def attn(z):
        q, k, v = ((z @ p[name]).unflatten(-1, (n_heads, -1)).movedim(1, 0) for name in ("wq", "wk", "wv"))
        scores = q @ k.transpose(1, 2) / math.sqrt(D / n_heads) + hidden
        return (torch.softmax(scores, -1) @ v).movedim(0, 1).flatten(1) @ p["wo"]

    def mlp(z):
        return F.linear(F.gelu(F.linear(z, p["w1"].T, p["b1"])), p["w2"].T, p["b2"])

    def ln(z, name):
        return F.layer_norm(z, (D,)) * p[name + "_g"] + p[name + "_b"]

    def one(z):
        if norm == "pre":
            z = z + attn(ln(z, "ln1"))
            return z + mlp(ln(z, "ln2"))
        z = ln(attn(z) + z, "ln1")
        return ln(mlp(z) + z, "ln2")

    return torch.vmap(one)(x.to(wide)).to(x.dtype)
