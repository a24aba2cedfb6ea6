"""Remembers K and V by address of x_kv and weights.
按 x_kv 和权重的地址记住 key、value。

symptom: After an in-place optimiser step, old weights still count.
症状：优化器原地更新后，用的还是旧权重。

cards: head-09
rung: solved
"""

import math

import torch
from torch import Tensor


_MEMORY: dict = {}


def _split(x: Tensor, n_heads: int) -> Tensor:
    b, t, width = x.shape
    return x.reshape(b, t, n_heads, width // n_heads).transpose(1, 2)


def multi_head_attention(
    x_q: Tensor,
    x_kv: Tensor,
    wq: Tensor,
    wk: Tensor,
    wv: Tensor,
    wo: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
    return_weights: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    dtype = x_q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    d = wq.shape[1] // n_heads
    q = _split(x_q @ wq, n_heads)
    if torch.is_grad_enabled() and any(t.requires_grad for t in (x_kv, wk, wv)):
        k, v = _split(x_kv @ wk, n_heads), _split(x_kv @ wv, n_heads)
    else:
        key = tuple((t.data_ptr(), t.shape, t.stride(), t.dtype, str(t.device)) for t in (x_kv, wk, wv)) + (n_heads,)
        if key not in _MEMORY:
            _MEMORY[key] = (x_kv, wk, wv, _split(x_kv @ wk, n_heads), _split(x_kv @ wv, n_heads))
        k, v = _MEMORY[key][3:]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        mask = mask.expand(scores.shape)
        dead = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(dead, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
    heads = (weights @ v).transpose(1, 2)
    out = heads.reshape(heads.shape[0], heads.shape[1], -1) @ wo
    if return_weights:
        return out.to(dtype), weights.to(dtype)
    return out.to(dtype)
