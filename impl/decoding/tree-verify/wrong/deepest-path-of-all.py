"""Returns the deepest path, matching or not.
返回最深的路径，不管匹配与否。

symptom: Accepts what the target would not say.
症状：接受了目标模型不会说的 token。

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
        if p in paths:
            paths[i] = [*paths[p], i]
    best = max(paths.values(), key=len)
    return best, target_argmax[best[-1] if best else 0]
