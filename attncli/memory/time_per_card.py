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

    return towards_usual(len(seen) * (median(seen) if seen else prior_seconds), len(seen), prior_seconds)


def towards_usual(seconds: float, cards: int, prior_seconds: float) -> float:
    """What each of so many cards took that took `seconds` together, as if `PRIOR_CARDS` more had taken the prior."""
    return (seconds + PRIOR_CARDS * prior_seconds) / (cards + PRIOR_CARDS)
