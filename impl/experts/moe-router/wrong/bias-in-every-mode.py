"""Adds the bias in the softmax modes too.
softmax 模式也加了 bias。

symptom: A bias that should be ignored changes the choice.
症状：该忽略的 bias 改变了选择。

cards: moe-13
rung: solved
"""
import torch


def route(x, wg, k, mode, bias=None):
    wide = torch.promote_types(x.dtype, torch.float32)
    logits = x.to(wide) @ wg.to(wide)
    if bias is not None and mode != "sigmoid_bias":
        logits = logits + bias.to(wide)
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
