"""Compares a token with the target's argmax at the same node.
把 token 与同一节点上的 argmax 比较。

symptom: That is what comes after the token, not the token.
症状：那是这个 token 之后的预测。

cards: dec-25
rung: solved
"""

import torch


def tree_mask(parents, past):
    n = len(parents)
    mask = torch.zeros(n, past + n, dtype=torch.bool)
    mask[:, :past] = True
    for i in range(n):
        j = i
        while j >= 0:
            mask[i, past + j] = True
            j = parents[j]
    return mask


def tree_positions(parents, past):
    depth = []
    for i, parent in enumerate(parents):
        depth.append(0 if i == 0 else depth[parent] + 1)
    return torch.tensor([past + d for d in depth])


def verify_tree(parents, tokens, target_argmax):
    paths = {0: []}
    for i in range(1, len(parents)):
        p = parents[i]
        if p in paths and tokens[i] == target_argmax[i]:
            paths[i] = [*paths[p], i]
    best = max(paths.values(), key=len)
    return best, target_argmax[best[-1] if best else 0]
