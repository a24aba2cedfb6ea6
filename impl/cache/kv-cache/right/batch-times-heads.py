"""Batch times heads; a new buffer takes past and token."""
import torch


def flat(x, w, n):
    B, T, D = x.shape
    return (x @ w).reshape(B, T, n, D // n).permute(0, 2, 1, 3).reshape(B * n, T, D // n)


def attend(q, k, v, n, wo, bias=None):
    s = torch.bmm(q, k.transpose(1, 2)) * q.shape[-1] ** -0.5
    p = (s if bias is None else s + bias).softmax(2)
    y = torch.bmm(p, v).unflatten(0, (-1, n))
    return y.swapaxes(1, 2).flatten(2) @ wo


def prefill(x, params, n_heads):
    q, k, v = (flat(x, params[w], n_heads) for w in ("wq", "wk", "wv"))
    T = x.shape[1]
    bias = torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
    y = attend(q, k, v, n_heads, params["wo"], bias)
    return y, {"k": k.unflatten(0, (-1, n_heads)), "v": v.unflatten(0, (-1, n_heads))}


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (flat(x_t, params[w], n_heads) for w in ("wq", "wk", "wv"))
    if not cache:
        y = attend(q, k, v, n_heads, params["wo"])
        return y, {"k": k.unflatten(0, (-1, n_heads)), "v": v.unflatten(0, (-1, n_heads))}
    new = {}
    for name, fresh in (("k", k), ("v", v)):
        old = cache[name]
        B, H, t, d = old.shape
        longer = old.new_zeros(B, H, t + 1, d)
        longer[:, :, :t] = old
        longer[:, :, t:] = fresh.view(B, H, 1, d)
        new[name] = longer
    y = attend(q, new["k"].flatten(0, 1), new["v"].flatten(0, 1), n_heads, params["wo"])
    return y, new
