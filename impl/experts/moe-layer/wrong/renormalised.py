"""Renormalises the gates over the chosen experts.
门控在选中的专家间又归一化。

symptom: With k = 1 the router stops learning.
症状：k = 1 时路由器学不到东西。

cards: moe-05
rung: solved
"""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    probs = torch.softmax(x @ wg, dim=-1)
    gates, idx = torch.topk(probs, k, dim=-1)
    gates = gates / gates.sum(-1, keepdim=True)
    out = torch.zeros_like(x)
    for e in range(w1.shape[0]):
        rows, slots = torch.where(idx == e)
        y = torch.relu(x[rows] @ w1[e]) @ w2[e]
        out = out.index_add(0, rows, y * gates[rows, slots].unsqueeze(-1))
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
