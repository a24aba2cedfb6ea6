"""einsum over (D, H, d) weights; a comparison of positions as mask."""
import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, wq, wk, wv, wo = (t.float() for t in (x, wq, wk, wv, wo))
    q = torch.einsum("btm,mhd->bthd", x, wq.unflatten(1, (H, -1)))
    k, v = x @ wk, x @ wv
    s = torch.einsum("bthd,bsd->bhts", q, k) * k.shape[-1] ** -0.5
    if causal:
        at = torch.arange(x.shape[1], device=x.device)
        s = torch.where(at[:, None] >= at, s, -torch.inf)
    return torch.einsum("bhts,bsd,hdm->btm", torch.softmax(s, -1), v, wo.unflatten(0, (H, -1))).to(dtype)
