"""Lets a node see its descendants.
节点看到的是自己的后代。

symptom: The transpose of the mask.
症状：掩码转置了。

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
            mask[j, past + i] = True
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
        if p in paths and tokens[i] == target_argmax[p]:
            paths[i] = [*paths[p], i]
    best = max(paths.values(), key=len)
    return best, target_argmax[best[-1] if best else 0]
