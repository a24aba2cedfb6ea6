"""Overwrites what earlier experts added.
后算的专家覆盖先前的结果。

symptom: Only the last chosen expert counts.
症状：只有最后一个专家算数。

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
        out = out.index_copy(0, rows, y * gates[rows, slots].unsqueeze(-1))
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
