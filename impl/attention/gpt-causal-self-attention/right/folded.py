"""Heads folded into the batch, softmax and dropout mask by hand."""
import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.n_heads, self.rate = n_heads, float(dropout)
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        index = torch.arange(max_len)
        self.register_buffer("visible", index[:, None] >= index[None, :], persistent=False)

    def forward(self, x):
        B, T, D = x.shape
        H, d = self.n_heads, D // self.n_heads
        if T > self.visible.size(1):
            raise ValueError("too many tokens")
        q, k, v = self.c_attn(x).reshape(B, T, 3, H, d).permute(2, 0, 3, 1, 4).reshape(3, B * H, T, d)
        s = torch.bmm(q * d**-0.5, k.transpose(1, 2))
        seen = self.visible[:T, :T]
        s = torch.where(seen, s, torch.full_like(s, torch.finfo(s.dtype).min))
        e = (s - s.amax(-1, keepdim=True)).exp() * seen
        w = e / e.sum(-1, keepdim=True)
        if self.training and self.rate > 0:
            w = w * (torch.rand_like(w) >= self.rate) / (1 - self.rate)
        y = torch.bmm(w, v).reshape(B, H, T, d).permute(0, 2, 1, 3).reshape(B, T, D)
        return self.c_proj(y)
