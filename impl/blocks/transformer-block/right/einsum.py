"""Everything by hand: norm and GELU written out, heads folded into the weights."""

import math

import torch


def normed(x, gain, shift):
    c = x - x.mean(-1, keepdim=True)
    return c * torch.rsqrt((c * c).mean(-1, keepdim=True) + 1e-5) * gain + shift


def attend(x, p, H, causal):
    D, T = x.shape[-1], x.shape[1]
    q, k, v = (torch.einsum("btm,mhd->bhtd", x, p[name].reshape(D, H, -1)) for name in ("wq", "wk", "wv"))
    s = torch.einsum("bhtd,bhsd->bhts", q, k) * (D / H) ** -0.5
    if causal:
        place = torch.arange(T, device=x.device)
        s = torch.where(place[:, None] >= place, s, torch.finfo(s.dtype).min)
    return torch.einsum("bhts,bhsd,hdm->btm", s.softmax(-1), v, p["wo"].reshape(H, -1, D))


def feed(x, p):
    z = torch.einsum("btd,df->btf", x, p["w1"]) + p["b1"]
    return torch.einsum("btf,fd->btd", z * torch.special.ndtr(z), p["w2"]) + p["b2"]


def block(x, params, n_heads, norm, causal):
    wide = torch.promote_types(x.dtype, torch.float32)
    p = {name: value.to(wide) for name, value in params.items()}
    y = x.to(wide)
    halves = ((lambda z: attend(z, p, n_heads, causal), "ln1"), (lambda z: feed(z, p), "ln2"))
    for branch, name in halves:
        gain, shift = p[name + "_g"], p[name + "_b"]
        y = y + branch(normed(y, gain, shift)) if norm == "pre" else normed(y + branch(y), gain, shift)
    return y.to(x.dtype)
