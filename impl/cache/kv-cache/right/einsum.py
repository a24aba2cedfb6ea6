"""(D, H, d) weights; joins by padding and adding."""
import torch
import torch.nn.functional as F


def heads(x, w, n):
    return torch.einsum("btm,mhd->bhtd", x, w.unflatten(1, (n, -1)))


def out(q, k, v, wo, visible=None):
    s = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    if visible is not None:
        s = torch.where(visible, s, torch.finfo(s.dtype).min)
    return torch.einsum("bhts,bhsd,hdm->btm", F.softmax(s, -1), v, wo.unflatten(0, (q.shape[1], -1)))


def prefill(x, params, n_heads):
    q, k, v = (heads(x, params[n], n_heads) for n in ("wq", "wk", "wv"))
    t = torch.arange(x.shape[1], device=x.device)
    return out(q, k, v, params["wo"], t[:, None] >= t), {"v": v, "k": k}


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (heads(x_t, params[n], n_heads) for n in ("wq", "wk", "wv"))
    if "k" in cache:
        t = cache["k"].shape[2]
        k = F.pad(cache["k"], (0, 0, 0, 1)) + F.pad(k, (0, 0, t, 0))
        v = F.pad(cache["v"], (0, 0, 0, 1)) + F.pad(v, (0, 0, t, 0))
    return out(q, k, v, params["wo"]), dict(k=k, v=v)
