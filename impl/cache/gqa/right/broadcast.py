"""A dimension for the groups, over which the product broadcasts."""
import torch


def gqa(q, k, v, causal=False):
    B, H, T, d = q.shape
    G, S = k.shape[1:3]
    if H % G != 0:
        raise ValueError("H must be a multiple of G")
    if causal and S < T:
        raise ValueError("S must be at least T")
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    q = q.reshape(B, G, H // G, T, d)
    s = (q @ k.unsqueeze(2).mT) * d**-0.5
    if causal:
        i = torch.arange(T, device=q.device)[:, None] + S - T
        s = torch.where(torch.arange(S, device=q.device) <= i, s, -torch.inf)
    return (s.softmax(-1) @ v.unsqueeze(2)).flatten(1, 2).to(dtype)
