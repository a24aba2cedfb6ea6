"""The FSRS-6 forgetting curve."""

from __future__ import annotations

from attncli.domain.schedule import Schedule
from attncli.memory.schedule_policy import DEFAULT_DECAY


def retrievability(stability_days: float, elapsed_days: float, decay: float = DEFAULT_DECAY) -> float:
    """The probability (0…1) of recall `elapsed_days` after a review that left `stability_days`.

    R(t) = (1 + F·t/S)^(−decay), with F such that R(S) = 0.9.
    """
    return float((1 + curve_factor(decay) * max(0.0, elapsed_days) / stability_days) ** -decay)


def curve_factor(decay: float = DEFAULT_DECAY) -> float:
    """The F of the curve."""
    return float(0.9 ** (-1 / decay) - 1)


def recall_on(schedule: Schedule, day: int, decay: float = DEFAULT_DECAY) -> float:
    """The probability that a reviewed card is recalled on study day `day`."""
    if schedule.stability_days is None:
        return 0.0
    return retrievability(schedule.stability_days, day - schedule.review_day, decay)
