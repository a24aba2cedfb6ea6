"""Heads in front, complex rotation, one product over latent and rotary parts."""
import torch
from torch import nn


def turned(x, pos):
    d = x.shape[-1]
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    freq = torch.pow(torch.tensor(10000.0, dtype=wide, device=x.device), -torch.arange(0, d, 2, device=x.device).to(wide) / d)
    angle = pos.to(wide).unsqueeze(-1) * freq
    z = torch.view_as_complex(x.to(wide).reshape(*x.shape[:-1], d // 2, 2).clone(memory_format=torch.contiguous_format))
    z = z * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(z).reshape(x.shape).to(x.dtype)


def normed(x, gain):
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * gain


class MLA(nn.Module):
    def __init__(self, D, H, d_nope, d_rope, d_v, r_kv, r_q):
        super().__init__()
        self.H, self.n, self.p, self.v = H, d_nope, d_rope, d_v
        shapes = dict(w_dq=(D, r_q), g_q=(r_q,), w_uq=(r_q, H, d_nope + d_rope), w_dkv=(D, r_kv), g_kv=(r_kv,))
        shapes.update(w_kr=(D, d_rope), w_uk=(r_kv, H, d_nope), w_uv=(r_kv, H, d_v), w_o=(H * d_v, D))
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.full(shape, 0.5)))

    def project(self, x, pos):
        B, T, _ = x.shape
        q = (normed(x @ self.w_dq, self.g_q) @ self.w_uq.flatten(1)).view(B, T, self.H, -1).transpose(1, 2)
        q_n, q_p = q.split([self.n, self.p], -1)
        return q_n, turned(q_p, pos[:, None]), normed(x @ self.w_dkv, self.g_kv), turned(x @ self.w_kr, pos)

    def forward(self, x, pos):
        B, T, _ = x.shape
        q_n, q_p, c, kr = self.project(x, pos)
        k_n = (c @ self.w_uk.flatten(1)).view(B, T, self.H, self.n).transpose(1, 2)
        v = (c @ self.w_uv.flatten(1)).view(B, T, self.H, self.v).transpose(1, 2)
        k = torch.cat([k_n, kr[:, None].expand(-1, self.H, -1, -1)], -1)
        s = torch.cat([q_n, q_p], -1) @ k.mT / (self.n + self.p) ** 0.5
        s = s + torch.full((T, T), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1) @ self.w_o

    def step(self, x_t, pos, cache):
        q_n, q_p, c, kr = self.project(x_t, pos)
        if cache:
            c = torch.cat((cache["c"], c), 1)
            kr = torch.cat((cache["kr"], kr), 1)
        q = torch.cat([q_n @ self.w_uk.permute(1, 2, 0), q_p], -1)[:, :, 0]
        p = (q @ torch.cat([c, kr], -1).mT / (self.n + self.p) ** 0.5).softmax(-1)
        o = (p @ c).unsqueeze(2) @ self.w_uv.transpose(0, 1)
        return o.transpose(1, 2).flatten(2) @ self.w_o, dict(c=c, kr=kr)
