"""Takes the bonus from the last node of the list.
奖励 token 取自列表最后一个节点。

symptom: A token from another branch.
症状：取到了别的分支上的预测。

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
    best = max(paths.values(), key=len)
    return best, target_argmax[-1]
