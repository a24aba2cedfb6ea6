"""Leaves W_UV out of the step.
step 漏了 W_UV。

symptom: Decoding disagrees with prefill.
症状：解码与 prefill 对不上。

cards: kv-14
rung: solved
"""
import torch
from torch import nn


def rms(x, gain):
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gain


def rope(x, pos):
    d = x.shape[-1]
    wide = torch.promote_types(x.dtype, torch.float32)
    angle = pos[..., None] * 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class MLA(nn.Module):
    def __init__(self, D, H, d_nope, d_rope, d_v, r_kv, r_q):
        super().__init__()
        self.n, self.scale = d_nope, (d_nope + d_rope) ** -0.5
        shapes = {"w_dq": (D, r_q), "g_q": (r_q,), "w_uq": (r_q, H, d_nope + d_rope), "w_dkv": (D, r_kv)}
        shapes |= {"g_kv": (r_kv,), "w_kr": (D, d_rope), "w_uk": (r_kv, H, d_nope), "w_uv": (r_kv, H, d_v)}
        shapes |= {"w_o": (H * d_v, D)}
        for name, shape in shapes.items():
            setattr(self, name, nn.Parameter(torch.randn(shape) * 0.1))

    def queries(self, x, pos):
        q = torch.einsum("btr,rhe->bthe", rms(x @ self.w_dq, self.g_q), self.w_uq)
        return q[..., : self.n], rope(q[..., self.n :], pos[..., None])

    def latents(self, x, pos):
        return rms(x @ self.w_dkv, self.g_kv), rope(x @ self.w_kr, pos)

    def forward(self, x, pos):
        q, qr = self.queries(x, pos)
        c, kr = self.latents(x, pos)
        k = torch.einsum("bsr,rhn->bshn", c, self.w_uk)
        v = torch.einsum("bsr,rhv->bshv", c, self.w_uv)
        s = torch.einsum("bthn,bshn->bhts", q, k) + torch.einsum("bthp,bsp->bhts", qr, kr)
        hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        p = (s * self.scale).masked_fill(hidden, float("-inf")).softmax(-1)
        return torch.einsum("bhts,bshv->bthv", p, v).flatten(2) @ self.w_o

    def step(self, x_t, pos, cache):
        q, qr = self.queries(x_t, pos)
        c, kr = self.latents(x_t, pos)
        if cache:
            c, kr = torch.cat([cache["c"], c], 1), torch.cat([cache["kr"], kr], 1)
        ql = torch.einsum("bthn,rhn->bthr", q, self.w_uk)
        s = torch.einsum("bthr,bsr->bhts", ql, c) + torch.einsum("bthp,bsp->bhts", qr, kr)
        p = (s * self.scale).softmax(-1)
        o = torch.einsum("bhts,bsr->bthr", p, c)
        width = self.w_uv.shape[2]
        o = torch.nn.functional.pad(o, (0, max(0, width - o.shape[-1])))[..., :width]
        y = o.flatten(2) @ self.w_o
        return y, {"c": c, "kr": kr}
