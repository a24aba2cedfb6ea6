"""Leaves the ReLU out.
漏了 ReLU。

symptom: An expert is one linear map.
症状：专家退化成线性映射。

cards: ffn-01
rung: solved
"""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    probs = torch.softmax(x @ wg, dim=-1)
    gates, idx = torch.topk(probs, k, dim=-1)
    out = torch.zeros_like(x)
    for e in range(w1.shape[0]):
        rows, slots = torch.where(idx == e)
        y = (x[rows] @ w1[e]) @ w2[e]
        out = out.index_add(0, rows, y * gates[rows, slots].unsqueeze(-1))
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
