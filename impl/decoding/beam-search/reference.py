"""Beam search: the best `beam` prefixes by summed log-probability, extended together until they end.

All live prefixes have one length, so their sums compare; the length penalty only matters between finished ones of different lengths, and
is applied at the end. Decisions:
- a hypothesis that ends in eos keeps its place in the beam and is not extended: the search narrows as they finish;
- the candidates are all live × V continuations, not the best few of each row; −inf is not a candidate;
- score = sum / ((5 + len)/6)^alpha, eos counted, bos not.

Wu et al. 2016 (GNMT), arXiv 1609.08144, §7.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def beam_search(
    step_fn: Callable[[Tensor], Tensor], bos: int, eos: int, beam: int, max_len: int, alpha: float
) -> list[tuple[list[int], float]]:
    live: list[tuple[list[int], float]] = [([], 0.0)]
    finished: list[tuple[list[int], float]] = []
    for _ in range(max_len):
        if not live:
            break
        logp = step_fn(torch.tensor([[bos, *ids] for ids, _ in live])).double()  # (N, V)
        sums = logp + torch.tensor([total for _, total in live], dtype=torch.float64)[:, None]  # (N, V)
        best = sums.flatten().sort(descending=True, stable=True)  # ties: lower row, then lower id
        survivors = []
        for total, index in zip(best.values[: beam - len(finished)].tolist(), best.indices.tolist(), strict=False):
            row, token = divmod(index, logp.shape[1])
            if total > float("-inf"):
                survivors.append(([*live[row][0], token], total))
        finished += [one for one in survivors if one[0][-1] == eos]
        live = [one for one in survivors if one[0][-1] != eos]
    scored = [(ids, total / ((5 + len(ids)) / 6) ** alpha) for ids, total in finished + live]
    return sorted(scored, key=lambda one: one[1], reverse=True)
