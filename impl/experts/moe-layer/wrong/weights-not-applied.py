"""Leaves the gates out of the sum.
专家输出没有乘门控。

symptom: The router gets no gradient.
症状：路由器没有梯度。

cards: moe-04
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
        out = out.index_add(0, rows, y)
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
