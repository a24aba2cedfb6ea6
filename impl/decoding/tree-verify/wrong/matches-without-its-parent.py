"""Lets a node match although its parent does not.
父节点不匹配，节点也算匹配。

symptom: A lucky token behind a rejected one is accepted.
症状：前面被拒绝了，后面碰巧对上的仍被接受。

cards: dec-25, dec-09
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
        if tokens[i] == target_argmax[p]:
            paths[i] = [*paths.get(p, []), i]
    best = max(paths.values(), key=len)
    return best, target_argmax[best[-1] if best else 0]
