"""A loop over the groups."""
import torch
import torch.nn.functional as F


def gqa(q, k, v, causal=False):
    H, G = q.shape[1], k.shape[1]
    if H % G:
        raise ValueError(f"{H} heads over {G} groups")
    T, S = q.shape[2], k.shape[2]
    if causal and T > S:
        raise ValueError(f"{T} queries over {S} keys")
    half = q.dtype in (torch.half, torch.bfloat16)
    out = []
    for g, heads in enumerate(q.chunk(G, dim=1)):
        key, value = k[:, g : g + 1], v[:, g : g + 1]
        if half:
            heads, key, value = heads.float(), key.float(), value.float()
        s = heads.matmul(key.transpose(2, 3)) / q.shape[-1] ** 0.5
        if causal:
            s = s + torch.full((T, S), float("-inf"), dtype=s.dtype, device=s.device).triu(1 + S - T)
        out.append(F.softmax(s, dim=3).matmul(value))
    return torch.cat(out, dim=1).to(q.dtype)
