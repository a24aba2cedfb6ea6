"""Loops over sequences, cut at their length, and over chunks of codes."""
import torch


def append_kv(cache, k, v):
    def coded(x):
        y = x.to(torch.promote_types(x.dtype, torch.float32))
        top = y.abs().amax(dim=3, keepdim=True)
        step = torch.where(top == 0, torch.ones_like(top), top) / 127.0
        step = step.to(torch.float32)
        return torch.round(y / step).to(torch.int8), step.squeeze(3)

    fresh = dict(zip(("k", "k_scale", "v", "v_scale"), (*coded(k), *coded(v))))
    return {name: torch.cat((cache[name], new), dim=2) for name, new in fresh.items()} if cache else fresh


def attend(q, cache, lengths):
    G = cache["k"].shape[1]
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.zeros_like(q, dtype=wide)
    for b, n in enumerate(lengths.tolist()):
        if n == 0:
            continue
        x = q[b].to(wide).view(G, -1, q.shape[2])
        k, v = cache["k"][b, :, :n], cache["v"][b, :, :n]
        s = torch.cat([x @ c.to(wide).mT for c in k.chunk(-(-n // 100), 1)], 2)
        p = torch.softmax(s * cache["k_scale"][b, :, None, :n] * q.shape[2] ** -0.5, 2) * cache["v_scale"][b, :, None, :n]
        chunks = v.chunk(-(-n // 100), 1)
        widths = [c.shape[1] for c in chunks]
        out[b] = sum(w @ c.to(wide) for w, c in zip(p.split(widths, 2), chunks)).flatten(0, 1)
    return out.to(q.dtype)
