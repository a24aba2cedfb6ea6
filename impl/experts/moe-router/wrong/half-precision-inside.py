"""Computes 16-bit inputs in 16 bits.
16 位输入用 16 位计算。

symptom: Close logits tie, and the choice flips.
症状：接近的 logits 打平，选择翻转。

cards: prec-07
rung: hardened
"""
import torch


def route(x, wg, k, mode, bias=None):
    wide = x.dtype
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
    return weights.to(x.dtype), idx, probs.to(x.dtype)
