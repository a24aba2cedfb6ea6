"""Masks an N × N score matrix.
对 N × N 的分数矩阵加掩码。

symptom: Right values, but N² scores of which most are hidden.
症状：结果对，但算了 N² 个分数，绝大多数被屏蔽。

cards: mask-11
rung: solved
"""

import torch


def pack(seqs):
    x = torch.cat(seqs, dim=0)
    ends = torch.tensor([0] + [s.shape[0] for s in seqs], device=x.device).cumsum(0)
    return x, ends.to(torch.int32)


def varlen_attention(q, k, v, cu_seqlens, causal=True):
    wide = torch.promote_types(q.dtype, torch.float32)
    place = torch.arange(q.shape[0], device=q.device)
    of = (place[:, None] >= cu_seqlens[None, 1:]).sum(-1)
    visible = of[:, None] == of
    if causal:
        visible = visible & (place[:, None] >= place)
    s = torch.einsum("ihd,jhd->hij", q.to(wide), k.to(wide)) / q.shape[-1] ** 0.5
    w = s.masked_fill(~visible, float("-inf")).softmax(-1)
    return torch.einsum("hij,jhd->ihd", w, v.to(wide)).to(q.dtype)
