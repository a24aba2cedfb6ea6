"""Megatron's MLP: the first matrix split by columns, the second by rows, and one all-reduce at the end.

    y = act(x W1 + b1) W2 + b2,    W1 = [W1_0 | W1_1 | …],    W2 = [W2_0; W2_1; …]

Rank p holds some columns of W1 and the same rows of W2. The activation acts on each hidden unit alone, so a rank applies
it to its own columns; its rows of W2 turn them into one term of the sum y. Only these terms are communicated. Decisions:
- b1 is split like the columns and added before the activation; b2 belongs to the sum, and is added once, after it;
- ranks may hold different numbers of columns; one rank alone still calls all_reduce, once.

Shoeybi et al. 2019, arXiv 1909.08053, §3.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


def tp_mlp(
    x: Tensor,
    w1_shards: list[Tensor],
    b1_shards: list[Tensor],
    w2_shards: list[Tensor],
    b2: Tensor,
    act: Callable[[Tensor], Tensor],
    all_reduce: Callable[[list[Tensor]], Tensor],
) -> Tensor:
    partials = []
    for w1, b1, w2 in zip(w1_shards, b1_shards, w2_shards, strict=True):  # what each rank does by itself
        hidden = act(x @ w1 + b1)  # (..., F_p)
        partials.append(hidden @ w2)  # (..., D)
    return all_reduce(partials) + b2  # (..., D)
