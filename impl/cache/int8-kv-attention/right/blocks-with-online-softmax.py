"""Decodes 64 tokens at a time and carries maximum, sum and output along."""
import torch


def append_kv(cache, k, v):
    out = dict(cache)
    for name, x in {"k": k, "v": v}.items():
        wide = x.double()
        scale = wide.abs().max(-1).values.div(127).clamp(min=1e-30).float()
        codes = torch.clamp((wide / scale.double().unsqueeze(-1)).round(), -127, 127).char()
        parts = [(name, codes), (name + "_scale", scale)]
        out.update({key: torch.cat([out[key], new], 2) if key in out else new for key, new in parts})
    return out


def attend(q, cache, lengths):
    B, H, d = q.shape
    G, t = cache["k"].shape[1], cache["k"].shape[2]
    wide = torch.promote_types(q.dtype, torch.float32)
    x = q.to(wide).unflatten(1, (G, H // G)) * d**-0.5
    top = x.new_full((*x.shape[:3], 1), -torch.inf)
    mass, acc = torch.zeros_like(top), torch.zeros_like(x)
    for a in range(0, t, 64):
        part = slice(a, a + 64)
        k = cache["k"][:, :, part].to(wide) * cache["k_scale"][:, :, part, None]
        v = cache["v"][:, :, part].to(wide) * cache["v_scale"][:, :, part, None]
        v = v.masked_fill(torch.arange(a, a + v.shape[2], device=q.device)[:, None] >= lengths.view(B, 1, 1, 1), 0.0)
        hidden = torch.arange(a, a + k.shape[2], device=q.device) >= lengths.view(B, 1, 1, 1)
        s = torch.einsum("bgrd,bgtd->bgrt", x, k).masked_fill(hidden, -torch.inf)
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        base = new.masked_fill(new.isneginf(), 0.0)
        p, decay = torch.exp(s - base), torch.exp(top - base)
        mass, acc, top = mass * decay + p.sum(-1, keepdim=True), acc * decay + p @ v, new
    return (acc / mass.masked_fill(mass == 0, 1.0)).flatten(1, 2).to(q.dtype)
