"""Returns the chosen in order of index.
按编号而不是分数排列。

symptom: The first expert is not the best one.
症状：第一个不是得分最高的。

cards: moe-24
rung: solved
"""
import torch


def route(x, wg, k, mode, bias=None):
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = x.to(wide) @ wg.to(wide)
    if mode == "softmax_topk":
        probs = torch.softmax(logits, dim=-1)
        weights, idx = probs.topk(k, dim=-1)
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
    idx, order = idx.sort(dim=-1)
    weights = weights.gather(-1, order)
    return weights.to(x.dtype), idx, probs.to(x.dtype)
