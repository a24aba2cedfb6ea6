"""How one review changes stability, as plain numbers: what forecasts compute thousands of times.

The formulas are FSRS-6's, and a test holds them to py-fsrs. Schedules come from `scheduler`, never from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log

from attncli.memory.schedule_policy import DEFAULT_DECAY

PUBLISHED: tuple[float, ...] = (
    0.212,
    1.2931,
    2.3065,
    8.2956,
    6.4133,
    0.8334,
    3.0194,
    0.001,
    1.8722,
    0.1666,
    0.796,
    1.4835,
    0.0614,
)
PUBLISHED += (0.2629, 1.6483, 0.6014, 1.8729, 0.5425, 0.0912, 0.0658, DEFAULT_DECAY)
LEAST_STABILITY_DAYS = 0.001
FIRST_RATINGS = (0.25, 0.15, 0.5, 0.1)
"""How often a new card is rated again, hard, good and easy, before anything is known of the learner."""
PRIOR_RATINGS = 20
"""How many first ratings of the learner's own weigh as much as these."""


def first_shares(counts: Sequence[int]) -> list[float]:
    """How often new cards are first rated again, hard, good and easy, after so many ratings of each."""
    total = sum(counts) + PRIOR_RATINGS
    return [(seen + PRIOR_RATINGS * share) / total for seen, share in zip(counts, FIRST_RATINGS, strict=True)]


@dataclass(frozen=True, slots=True)
class StabilityGrowth:
    """FSRS-6 with 21 weights, as functions of stability (days), difficulty (1…10) and recall (0…1)."""

    weights: Sequence[float] = PUBLISHED
    _factor: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_factor", 0.9 ** (-1 / self.weights[20]) - 1)

    def recall(self, stability: float, elapsed_days: float) -> float:
        """The probability of recall, as FSRS sees it when it makes the next stability."""
        return float((1 + self._factor * elapsed_days / stability) ** -self.weights[20])

    def recalled(self, stability: float, difficulty: float, recall: float) -> float:
        """Stability after a good answer."""
        w = self.weights
        gain = exp(w[8]) * (11 - difficulty) * stability ** -w[9] * (exp((1 - recall) * w[10]) - 1)
        return float(stability * (1 + gain))

    def forgotten(self, stability: float, difficulty: float, recall: float) -> float:
        """Stability after a forgotten answer, before it is learned again the same day."""
        w = self.weights
        long_term = w[11] * difficulty ** -w[12] * ((stability + 1) ** w[13] - 1) * exp((1 - recall) * w[14])
        return float(max(LEAST_STABILITY_DAYS, min(long_term, stability / exp(w[17] * w[18]))))

    def rated(self, stability: float, difficulty: float, elapsed_days: float, rating: int) -> float:
        """Stability after a review on a later day, rated 1…4; a forgotten card is learned again the same day."""
        recall = self.recall(stability, elapsed_days)
        if rating == 1:
            return self.learned_again(self.forgotten(stability, difficulty, recall))
        gained = self.recalled(stability, difficulty, recall) - stability
        return stability + gained * {2: self.weights[15], 4: self.weights[16]}.get(rating, 1.0)

    def harder(self, difficulty: float, rating: int) -> float:
        """Difficulty after a rating of 1…4."""
        w = self.weights
        moved = difficulty + (10 - difficulty) * -w[6] * (rating - 3) / 9
        easiest = w[4] - exp(w[5] * 3) + 1
        return min(10.0, max(1.0, w[7] * easiest + (1 - w[7]) * moved))

    def learned_again(self, stability: float) -> float:
        """Stability after a good answer on the day of another one."""
        w = self.weights
        return float(stability * max(1.0, exp(w[17] * w[18]) * stability ** -w[19]))

    def first(self, rating: int) -> float:
        """Stability after the learning steps of a new card that was first rated so (1…4), and then good."""
        start = max(LEAST_STABILITY_DAYS, self.weights[rating - 1])
        return self.learned_again(start) if rating < 4 else start

    def first_difficulty(self, rating: int) -> float:
        """Difficulty after the first rating."""
        w = self.weights
        return min(10.0, max(1.0, w[4] - exp(w[5] * (rating - 1)) + 1))

    def fresh(self, shares: Sequence[float] = FIRST_RATINGS) -> tuple[float, float]:
        """(stability, difficulty) to expect of a card learned today; `shares` of the four first ratings."""
        stability = exp(sum(share * log(self.first(rating)) for rating, share in enumerate(shares, 1)))
        return stability, sum(share * self.first_difficulty(rating) for rating, share in enumerate(shares, 1))

    def expected(self, stability: float, difficulty: float, elapsed_days: float, recall: float) -> float:
        """The stability to expect of a review, in the geometric mean; `recall` is how likely it is remembered.

        That mean is what counts: recall falls about evenly with the logarithm of stability.
        """
        seen = self.recall(stability, elapsed_days)
        if elapsed_days < 1:
            return self.learned_again(stability)
        good = self.recalled(stability, difficulty, seen)
        again = self.learned_again(self.forgotten(stability, difficulty, seen))
        return float(good**recall * again ** (1 - recall))
