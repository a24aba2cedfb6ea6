"""forward is step over all tokens, masked."""
import math
import torch
import torch.nn.functional as F
from torch import nn


class MLA(nn.Module):
    def __init__(self, D, H, d_nope, d_rope, d_v, r_kv, r_q):
        super().__init__()
        self.split, self.width = d_nope, d_nope + d_rope
        self.w_dq = nn.Parameter(torch.empty(D, r_q).uniform_(-0.1, 0.1))
        self.g_q = nn.Parameter(torch.ones(r_q))
        self.w_uq = nn.Parameter(torch.empty(r_q, H, d_nope + d_rope).uniform_(-0.1, 0.1))
        self.w_dkv = nn.Parameter(torch.empty(D, r_kv).uniform_(-0.1, 0.1))
        self.g_kv = nn.Parameter(torch.ones(r_kv))
        self.w_kr = nn.Parameter(torch.empty(D, d_rope).uniform_(-0.1, 0.1))
        self.w_uk = nn.Parameter(torch.empty(r_kv, H, d_nope).uniform_(-0.1, 0.1))
        self.w_uv = nn.Parameter(torch.empty(r_kv, H, d_v).uniform_(-0.1, 0.1))
        self.w_o = nn.Parameter(torch.empty(H * d_v, D).uniform_(-0.1, 0.1))

    @staticmethod
    def spin(x, pos):
        half = x.shape[-1] // 2
        rate = torch.exp(torch.arange(half, device=x.device, dtype=torch.float64) * (-math.log(10000.0) / half))
        angle = pos.double()[..., None] * rate
        cos = angle.cos().repeat_interleave(2, -1).to(x.dtype)
        sin = angle.sin().repeat_interleave(2, -1).to(x.dtype)
        swapped = x.unflatten(-1, (half, 2)).flip(-1) * torch.tensor([-1.0, 1.0], dtype=x.dtype, device=x.device)
        return x * cos + swapped.flatten(-2) * sin

    def new(self, x, pos):
        c = x @ self.w_dkv
        return c * (c * c).mean(-1, True).add(1e-6).pow(-0.5) * self.g_kv, self.spin(x @ self.w_kr, pos)

    def attend(self, x, pos, c, kr, hidden):
        z = x @ self.w_dq
        z = z * (z * z).mean(-1, True).add(1e-6).pow(-0.5) * self.g_q
        q = torch.tensordot(z, self.w_uq, 1)
        latent = (q[..., : self.split].unsqueeze(-2) * self.w_uk.permute(1, 0, 2)).sum(-1)
        s = latent.transpose(1, 2).flatten(1, 2) @ c.mT
        s = s + self.spin(q[..., self.split :], pos.unsqueeze(-1)).transpose(1, 2).flatten(1, 2) @ kr.mT
        s = s.unflatten(1, (-1, x.shape[1])) * self.width**-0.5
        p = F.softmax(s if hidden is None else s.masked_fill(hidden, -math.inf), -1)
        out = (p.flatten(1, 2) @ c).unflatten(1, (-1, x.shape[1]))
        return torch.einsum("bhtr,rhv->bthv", out, self.w_uv).flatten(2) @ self.w_o

    def forward(self, x, pos):
        order = torch.arange(x.shape[1], device=x.device)
        return self.attend(x, pos, *self.new(x, pos), order > order[:, None])

    def step(self, x_t, pos, cache):
        c, kr = self.new(x_t, pos)
        if len(cache):
            c, kr = torch.cat([cache["c"], c], 1), torch.cat([cache["kr"], kr], 1)
        return self.attend(x_t, pos, c, kr, None), {"kr": kr, "c": c}
