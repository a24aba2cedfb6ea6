"""A loop over heads, rotations by 2×2 matrices."""
import torch
from torch import nn


def rotation(pos, d, like):
    wide = torch.promote_types(like.dtype, torch.float32)
    i = torch.arange(d // 2, device=like.device)
    angle = pos[..., None] * (10000.0 ** (i.to(wide) * -2 / d))
    rows = [torch.stack([angle.cos(), -angle.sin()], -1), torch.stack([angle.sin(), angle.cos()], -1)]
    return torch.stack(rows, -2).to(like.dtype)


def apply(matrix, x):
    pairs = x.reshape(*x.shape[:-1], -1, 2, 1)
    return torch.matmul(matrix, pairs).reshape(x.shape)


class Norm:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, x):
        return self.gain * x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + 1e-6)


class MLA(nn.Module):
    def __init__(self, D, H, d_nope, d_rope, d_v, r_kv, r_q):
        super().__init__()
        self.heads, self.d_nope, self.d_rope = H, d_nope, d_rope
        make = lambda *s: nn.Parameter(torch.randn(s) * 0.02)
        self.w_dq, self.w_uq, self.w_o = make(D, r_q), make(r_q, H, d_nope + d_rope), make(H * d_v, D)
        self.w_dkv, self.w_kr = make(D, r_kv), make(D, d_rope)
        self.w_uk, self.w_uv = make(r_kv, H, d_nope), make(r_kv, H, d_v)
        self.g_q, self.g_kv = nn.Parameter(torch.ones(r_q)), nn.Parameter(torch.ones(r_kv))

    def head(self, h, z, turn, c, kr, mask):
        q = z @ self.w_uq[:, h]
        content = (q[..., : self.d_nope] @ self.w_uk[:, h].T) @ c.transpose(1, 2)
        place = apply(turn, q[..., self.d_nope :]) @ kr.transpose(1, 2)
        s = (content + place) / (self.d_nope + self.d_rope) ** 0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, -torch.inf))
        return (torch.softmax(s, -1) @ c) @ self.w_uv[:, h]

    def run(self, x, pos, cache, mask):
        turn = rotation(pos, self.d_rope, x)
        c, kr = Norm(self.g_kv)(x @ self.w_dkv), apply(turn, x @ self.w_kr)
        if cache:
            c, kr = torch.cat([cache["c"], c], 1), torch.cat([cache["kr"], kr], 1)
        z = Norm(self.g_q)(x @ self.w_dq)
        out = [self.head(h, z, turn, c, kr, mask) for h in range(self.heads)]
        return torch.cat(out, -1) @ self.w_o, {"c": c, "kr": kr}

    def forward(self, x, pos):
        T = x.shape[1]
        return self.run(x, pos, {}, torch.ones(T, T, device=x.device).tril().bool())[0]

    def step(self, x_t, pos, cache):
        return self.run(x_t, pos, cache, None)
