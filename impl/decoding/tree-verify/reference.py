"""Verifying a tree of drafted tokens in one pass of the target model: mask, positions, and which branch is accepted.

Every node is a token that continues its parent. With a mask that shows a node its ancestors alone, and a position that is
its depth, the pass gives each node the same output as its root-to-node path alone. Decisions:
- node 0 is the root: the last token accepted, whose keys are not in the past yet;
- parents come before their children, so one pass over the list is enough;
- greedy acceptance: a node matches if its parent does and its token is the target's next token there; the deepest match wins;
- the target's token behind it comes for free (bonus), so every step yields at least one token.

Miao et al. 2024 (SpecInfer), arXiv 2305.09781, §4; Cai et al. 2024 (Medusa), arXiv 2401.10774, §2.1.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


def tree_mask(parents: list[int], past: int) -> Tensor:
    n = len(parents)
    ancestors = torch.eye(n, dtype=torch.bool)  # (n, n): each node sees itself
    for i in range(1, n):
        ancestors[i] |= ancestors[parents[i]]
    return torch.cat([torch.ones(n, past, dtype=torch.bool), ancestors], dim=1)  # (n, past + n)


def tree_positions(parents: list[int], past: int) -> Tensor:
    positions = [past]
    for parent in parents[1:]:
        positions.append(positions[parent] + 1)
    return torch.tensor(positions)  # (n,)


def verify_tree(parents: list[int], tokens: list[int], target_argmax: list[int]) -> tuple[list[int], int]:
    matched: dict[int, list[int]] = {0: []}  # node → the path to it, without the root
    for i in range(1, len(parents)):
        parent = parents[i]
        if parent in matched and tokens[i] == target_argmax[parent]:
            matched[i] = [*matched[parent], i]
    path = max(matched.values(), key=len)
    return path, target_argmax[path[-1] if path else 0]
