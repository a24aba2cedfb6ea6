"""Takes the softmax of the chosen probabilities, not logits.
topk_softmax 对选中的概率而不是 logits 做 softmax。

symptom: The weights are far too even.
症状：权重过于平均。

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
        top, idx = probs.topk(k, dim=-1)
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
