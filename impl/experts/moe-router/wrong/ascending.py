"""Chooses the smallest scores.
选了分数最小的专家。

symptom: The router learns to avoid what fits.
症状：路由器学着避开合适的专家。

cards: moe-24
rung: solved
"""
import torch


def route(x, wg, k, mode, bias=None):
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = x.to(wide) @ wg.to(wide)
    if mode == "softmax_topk":
        probs = torch.softmax(logits, dim=-1)
        weights, idx = probs.topk(k, dim=-1, largest=False)
    elif mode == "topk_softmax":
        probs = torch.softmax(logits, dim=-1)
        top, idx = logits.topk(k, dim=-1, largest=False)
        weights = torch.softmax(top, dim=-1)
    elif mode == "sigmoid_bias":
        probs = torch.sigmoid(logits)
        scores = probs if bias is None else probs + bias.to(wide)
        idx = scores.topk(k, dim=-1, largest=False)[1]
        weights = probs.gather(-1, idx)
        weights = weights / weights.sum(-1, keepdim=True)
    else:
        raise ValueError(mode)
    return weights.to(x.dtype), idx, probs.to(x.dtype)
