"""Loops over the tokens.
逐个 token 循环。

symptom: Right, and a thousand times too slow.
症状：结果对，但慢上千倍。

cards: moe-06
rung: solved
"""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    gates, idx = torch.topk(torch.softmax(x @ wg, dim=-1), k, dim=-1)
    rows = []
    for n in range(x.shape[0]):
        y = 0
        for j in range(k):
            e = int(idx[n, j])
            y = y + gates[n, j] * (torch.relu(x[n] @ w1[e]) @ w2[e])
        if shared is not None:
            y = y + torch.relu(x[n] @ shared[0]) @ shared[1]
        rows.append(y)
    return torch.stack(rows)
