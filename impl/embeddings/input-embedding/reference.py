"""The input embedding: every token id picks a row of a learned table.

This equals a one-hot matrix times the table, without the product. Decisions:
- rows are multiplied by √D, as the 2017 model does with a table that it shares with the output layer;
- all ids are tokens: there is no padding index;
- a row that occurs several times collects the sum of its gradients, as indexing does.

Vaswani et al. 2017, arXiv 1706.03762, §3.4.
"""

from __future__ import annotations

import math

from torch import Tensor


def embed_tokens(ids: Tensor, table: Tensor, scale: bool = True) -> Tensor:
    D = table.shape[1]
    rows = table[ids]  # (B, T, D)
    return rows * math.sqrt(D) if scale else rows
