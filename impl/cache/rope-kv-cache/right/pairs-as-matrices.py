"""A 2 × 2 matrix for each pair; one buffer holds turned keys and values side by side."""
import torch


def rope_decode_step(q, k, v, cache, pos, base=10000.0):
    d, wide = q.shape[-1], torch.promote_types(q.dtype, torch.float32)
    angle = pos[..., None].double() / base ** (torch.arange(0, d, 2, device=q.device).double() / d)
    c, s = angle.cos(), angle.sin()
    turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2).to(wide)[:, None]

    def turned(x):
        return (turn @ x.to(wide).unflatten(-1, (d // 2, 2, 1))).flatten(3).to(x.dtype)

    both = torch.cat([turned(k), v], dim=-1)
    if cache:
        both = torch.cat([cache["both"], both], dim=2)
    keys, values = both.to(wide).split(d, dim=-1)
    weights = torch.softmax((turned(q).to(wide) * keys).sum(-1) / d**0.5, dim=-1)
    return (weights[..., None] * values).sum(2, keepdim=True).to(q.dtype), {"both": both}
