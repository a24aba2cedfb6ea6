"""Multiplies the shared expert by the largest gate.
共享专家也乘了门控。

symptom: What every token needs is weighted by chance.
症状：每个 token 都要的部分被削弱。

cards: moe-16
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
        out = out.index_add(0, rows, y * gates[rows, slots].unsqueeze(-1))
    if shared is not None:
        out = out + gates[:, :1] * (torch.relu(x @ shared[0]) @ shared[1])
    return out
