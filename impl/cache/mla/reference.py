"""Multi-head latent attention: all heads share one small latent per token, and the cache stores that latent.

Keys and values are linear in the latent: k_h = c·W_UK_h, v_h = c·W_UV_h. A step never expands them, because
q_h·(c·W_UK_h) = (q_h·W_UK_hᵀ)·c: queries go into the latent space, and the averaged latent comes back through W_UV.
Decisions:
- the cache holds the latent after its norm and k_R after its rotation: r_kv + d_rope numbers a token;
- both forms scale by 1/√(d_nope + d_rope), the width of the query that training sees;
- positions act through a separate key, shared by the heads: a rotation of c could not be absorbed;
- causality follows the order of the tokens; pos only turns q and k_R (interleaved pairs, base 10⁴, angles in float32).

DeepSeek-V2, arXiv 2405.04434, section 2.1 and appendix C.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class MLA(nn.Module):
    def __init__(self, D: int, H: int, d_nope: int, d_rope: int, d_v: int, r_kv: int, r_q: int) -> None:
        super().__init__()
        self.d_nope = d_nope
        self.scale = 1 / math.sqrt(d_nope + d_rope)
        self.w_dq, self.g_q = weight(D, r_q), nn.Parameter(torch.ones(r_q))
        self.w_uq = weight(r_q, H, d_nope + d_rope)
        self.w_dkv, self.g_kv = weight(D, r_kv), nn.Parameter(torch.ones(r_kv))
        self.w_kr = weight(D, d_rope)
        self.w_uk, self.w_uv = weight(r_kv, H, d_nope), weight(r_kv, H, d_v)
        self.w_o = weight(H * d_v, D)

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        q_nope, q_rope = self._queries(x, pos)  # (B, T, H, d_nope), (B, T, H, d_rope)
        c, kr = self._latents(x, pos)  # (B, T, r_kv), (B, T, d_rope)
        k = torch.einsum("bsr,rhn->bshn", c, self.w_uk)  # (B, T, H, d_nope)
        v = torch.einsum("bsr,rhv->bshv", c, self.w_uv)  # (B, T, H, d_v)
        scores = torch.einsum("bthn,bshn->bhts", q_nope, k) + torch.einsum("bthp,bsp->bhts", q_rope, kr)
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        weights = torch.softmax((scores * self.scale).masked_fill(future, -math.inf), dim=-1)  # (B, H, T, T)
        return torch.einsum("bhts,bshv->bthv", weights, v).flatten(2) @ self.w_o  # (B, T, D)

    def step(self, x_t: Tensor, pos: Tensor, cache: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        q_nope, q_rope = self._queries(x_t, pos)  # (B, 1, H, d_nope), (B, 1, H, d_rope)
        c, kr = self._latents(x_t, pos)  # (B, 1, r_kv), (B, 1, d_rope)
        if cache:
            c, kr = torch.cat([cache["c"], c], dim=1), torch.cat([cache["kr"], kr], dim=1)  # (B, t, ...)
        q_latent = torch.einsum("bthn,rhn->bthr", q_nope, self.w_uk)  # (B, 1, H, r_kv): W_UK absorbed
        scores = torch.einsum("bthr,bsr->bhts", q_latent, c) + torch.einsum("bthp,bsp->bhts", q_rope, kr)
        weights = torch.softmax(scores * self.scale, dim=-1)  # (B, H, 1, t)
        gathered = torch.einsum("bhts,bsr->bthr", weights, c)  # (B, 1, H, r_kv): a latent for each head
        y = torch.einsum("bthr,rhv->bthv", gathered, self.w_uv).flatten(2) @ self.w_o  # (B, 1, D)
        return y, {"c": c, "kr": kr}

    def _queries(self, x: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        q = torch.einsum("btr,rhe->bthe", rms_norm(x @ self.w_dq, self.g_q), self.w_uq)  # (B, T, H, d_nope + d_rope)
        return q[..., : self.d_nope], rotate(q[..., self.d_nope :], pos[..., None])

    def _latents(self, x: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        return rms_norm(x @ self.w_dkv, self.g_kv), rotate(x @ self.w_kr, pos)


def weight(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) / math.sqrt(shape[0]))


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * gain


def rotate(x: Tensor, pos: Tensor) -> Tensor:
    """RoPE on the last dimension of x (..., d), in pairs (2i, 2i + 1); pos (...) broadcasts."""
    d = x.shape[-1]
    wide = torch.promote_types(x.dtype, torch.float32)
    turns = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)  # (d/2,)
    angle = pos[..., None].to(wide) * turns  # (..., d/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
