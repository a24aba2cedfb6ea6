"""Prefill runs the step token by token."""
import torch


def decode_step(x_t, cache, params, n_heads):
    B, _, D = x_t.shape
    d = D // n_heads
    q = (x_t[:, 0] @ params["wq"]).view(B, n_heads, d)
    k = (x_t[:, 0] @ params["wk"]).view(B, n_heads, 1, d)
    v = (x_t[:, 0] @ params["wv"]).view(B, n_heads, 1, d)
    keys = torch.cat((cache["k"], k), -2) if len(cache) else k.clone()
    values = torch.cat((cache["v"], v), -2) if len(cache) else v.clone()
    logits = (keys @ q.unsqueeze(-1)).squeeze(-1) / d**0.5
    weights = (logits - logits.amax(-1, keepdim=True)).exp()
    weights = weights / weights.sum(-1, keepdim=True)
    mixed = (weights.unsqueeze(-2) @ values).reshape(B, 1, D)
    return mixed @ params["wo"], {"k": keys, "v": values}


def prefill(x, params, n_heads):
    cache, ys = {}, []
    for x_t in x.split(1, dim=1):
        y, cache = decode_step(x_t, cache, params, n_heads)
        ys.append(y)
    return torch.cat(ys, 1), cache
