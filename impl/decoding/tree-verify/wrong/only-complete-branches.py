"""Accepts only branches that match down to a leaf.
只接受一路匹配到叶子的分支。

symptom: Good prefixes of a branch are thrown away.
症状：分支前半段对了也被丢掉。

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
        if p in paths and tokens[i] == target_argmax[p]:
            paths[i] = [*paths[p], i]
    best = max((p for i, p in paths.items() if i not in parents), key=len, default=[])
    return best, target_argmax[best[-1] if best else 0]
