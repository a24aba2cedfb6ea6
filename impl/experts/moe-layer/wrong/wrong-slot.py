"""Multiplies by the token's first gate whatever the expert's rank.
不管专家排第几，都乘第一个门控。

symptom: Right for k = 1 only.
症状：只有 k = 1 时对。

cards: moe-24
rung: solved
"""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    probs = torch.softmax(x @ wg, dim=-1)
    gates, idx = torch.topk(probs, k, dim=-1)
    out = torch.zeros_like(x)
    for e in range(w1.shape[0]):
        rows, slots = torch.where(idx == e)
        y = torch.relu(x[rows] @ w1[e]) @ w2[e]
        out = out.index_add(0, rows, y * gates[rows, 0].unsqueeze(-1))
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
