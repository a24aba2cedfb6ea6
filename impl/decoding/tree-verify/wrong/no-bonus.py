"""Returns the last accepted token instead of the bonus.
返回最后接受的 token，没有给出奖励 token。

symptom: The step yields one token less; none at all for a bad tree.
症状：每步少得一个 token；树全错时一个都没有。

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
        if p in paths and tokens[i] == target_argmax[p]:
            paths[i] = [*paths[p], i]
    best = max(paths.values(), key=len)
    return best, tokens[best[-1] if best else 0]
