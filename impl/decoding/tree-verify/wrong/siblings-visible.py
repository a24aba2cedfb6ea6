"""Lets a node see every earlier node, as a causal mask does.
像因果掩码那样，节点能看到所有更早的节点。

symptom: Branches read each other: the target scores texts that nobody wrote.
症状：各分支互相看得见，目标模型打分的文本根本不存在。

cards: dec-25, mask-07
rung: solved
"""

import torch


def tree_mask(parents, past):
    n = len(parents)
    mask = torch.zeros(n, past + n, dtype=torch.bool)
    mask[:, :past] = True
    for i in range(n):
        mask[i, past : past + i + 1] = True
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
