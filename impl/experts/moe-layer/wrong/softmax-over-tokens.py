"""Takes the router's softmax over the tokens.
路由器的 softmax 做在 token 维上。

symptom: A token's gates depend on the rest of the batch.
症状：门控取决于 batch 里还有谁。

cards: moe-03
rung: solved
"""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    probs = torch.softmax(x @ wg, dim=0)
    gates, idx = torch.topk(probs, k, dim=-1)
    out = torch.zeros_like(x)
    for e in range(w1.shape[0]):
        rows, slots = torch.where(idx == e)
        y = torch.relu(x[rows] @ w1[e]) @ w2[e]
        out = out.index_add(0, rows, y * gates[rows, slots].unsqueeze(-1))
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
