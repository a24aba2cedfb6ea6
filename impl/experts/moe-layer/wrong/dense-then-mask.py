"""Computes every expert for every token.
所有专家对所有 token 都算一遍。

symptom: Right values at E/k times the cost.
症状：数值都对，计算量是 E/k 倍。

cards: moe-08
rung: solved
"""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    probs = torch.softmax(x @ wg, dim=-1)
    gates, idx = torch.topk(probs, k, dim=-1)
    full = torch.zeros_like(probs).scatter(-1, idx, gates)
    hidden = torch.relu(torch.einsum("nd,edf->nef", x, w1))
    out = torch.einsum("nef,efd,ne->nd", hidden, w2, full)
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
