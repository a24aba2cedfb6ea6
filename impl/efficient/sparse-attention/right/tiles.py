"""Query tiles over key slices, masked in the tile's size."""
import math
import torch

TILE = 16


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    T = q.size(2)
    if q.dtype in (torch.float16, torch.bfloat16):
        return sliding_window_attention(q.float(), k.float(), v.float(), window, n_sink, causal).to(q.dtype)
    out = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    for a in range(0, T, TILE):
        b = min(a + TILE, T)
        lo = max(0, a - window + 1)
        hi = b if causal else min(T, b + window - 1)
        sinks = min(n_sink, lo)
        late = max(hi, min(n_sink, T)) if not causal else hi
        keys = torch.cat([k[:, :, :sinks], k[:, :, lo:late]], 2)
        vals = torch.cat([v[:, :, :sinks], v[:, :, lo:late]], 2)
        j = torch.cat([torch.arange(sinks, device=q.device), torch.arange(lo, late, device=q.device)])
        i = torch.arange(a, b, device=q.device).unsqueeze(1)
        near = (i - j < window) & (j - i < window)
        allowed = near | (j < n_sink)
        if causal:
            allowed = allowed & (j <= i)
        s = q[:, :, a:b].matmul(keys.transpose(2, 3)).div(math.sqrt(q.size(3)))
        s = torch.where(allowed, s, torch.full_like(s, -float("inf")))
        out[:, :, a:b] = torch.softmax(s, 3).matmul(vals)
    return out
