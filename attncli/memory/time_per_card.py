"""How long a card takes this learner, from their own log and, while that is short, from what is usual."""

from __future__ import annotations

from collections.abc import Sequence

LEARN_SECONDS, REVIEW_SECONDS = 60.0, 15.0
"""What learning a new card takes with its steps, and a review, where nothing is known of the learner."""
PRIOR_CARDS = 10
"""How many cards of the learner's own weigh as much as what is usual."""


def usual_seconds(seen: Sequence[float], prior_seconds: float) -> float:
    """The median of what single cards took, drawn towards `prior_seconds`."""
    from statistics import median  # `attn due` needs the mean alone, and this costs it milliseconds

    return towards_usual(median(seen) if seen else 0.0, len(seen), prior_seconds)


def towards_usual(known_seconds: float, cards: int, prior_seconds: float) -> float:
    """What so many cards took each, drawn towards `prior_seconds` as if that had been seen `PRIOR_CARDS` times."""
    return (cards * known_seconds + PRIOR_CARDS * prior_seconds) / (cards + PRIOR_CARDS)
