"""Follows the first child that matches and looks at no other.
沿着第一个匹配的子节点走，不看别的。

symptom: Misses the deeper of two siblings with equal tokens.
症状：兄弟 token 相同时，错过更深的那个。

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
    path, node = [], 0
    while True:
        match = [i for i in range(1, len(parents)) if parents[i] == node and tokens[i] == target_argmax[node]]
        if not match:
            return path, target_argmax[node]
        node = match[0]
        path.append(node)
