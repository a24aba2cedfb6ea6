"""Renormalises the chosen probabilities in softmax_topk.
softmax_topk 又归一化选中的概率。

symptom: With k = 1 every weight is 1, the router stops learning.
症状：k = 1 时权重恒为 1，路由器学不到东西。

cards: moe-05
rung: solved
"""
import torch


def route(x, wg, k, mode, bias=None):
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = x.to(wide) @ wg.to(wide)
    if mode == "softmax_topk":
        probs = torch.softmax(logits, dim=-1)
        weights, idx = probs.topk(k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
    elif mode == "topk_softmax":
        probs = torch.softmax(logits, dim=-1)
        top, idx = logits.topk(k, dim=-1)
        weights = torch.softmax(top, dim=-1)
    elif mode == "sigmoid_bias":
        probs = torch.sigmoid(logits)
        scores = probs if bias is None else probs + bias.to(wide)
        idx = scores.topk(k, dim=-1)[1]
        weights = probs.gather(-1, idx)
        weights = weights / weights.sum(-1, keepdim=True)
    else:
        raise ValueError(mode)
    return weights.to(x.dtype), idx, probs.to(x.dtype)
