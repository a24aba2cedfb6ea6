"""How long studying a card takes this learner, from their own log and, while that is short, from what is usual."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from attncli.memory.stability import FIRST_RATINGS

PRIOR_CARDS = 10
PRIOR_RATINGS = 20


def usual_seconds(seen: Sequence[float], prior_seconds: float) -> float:
    """The learner's median, drawn towards `prior_seconds` as if that had been seen ten times."""
    known = median(seen) if seen else prior_seconds
    return (len(seen) * known + PRIOR_CARDS * prior_seconds) / (len(seen) + PRIOR_CARDS)


def first_shares(counts: Sequence[int]) -> list[float]:
    """How often new cards are first rated again, hard, good and easy; `counts` of each so far."""
    total = sum(counts) + PRIOR_RATINGS
    return [(seen + PRIOR_RATINGS * share) / total for seen, share in zip(counts, FIRST_RATINGS, strict=True)]
