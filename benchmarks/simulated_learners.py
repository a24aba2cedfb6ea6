"""Simulated learners of three memory models, one of them FSRS-6. Each draws its own constants."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from random import Random

from attncli.memory.forecast import FIRST_RATINGS, PUBLISHED, StabilityGrowth

AGAIN, HARD, GOOD, EASY = 1, 2, 3, 4
RATING_IF_RECALLED = ((HARD, 0.15), (GOOD, 0.75), (EASY, 0.10))


class Learner(ABC):
    """A memory of numbered cards. Times are whole days; everything within a day is one event."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.pace = math.exp(draw.gauss(0, 0.25))

    @abstractmethod
    def learn(self, card: int, day: int) -> int:
        """Study a new card; return its first rating."""

    @abstractmethod
    def recall(self, card: int, day: int) -> float:
        """Return the probability of recall; 0 for a card never learned."""

    @abstractmethod
    def restudy(self, card: int, day: int, recalled: bool, rating: int) -> None:
        """Update the memory after a review."""

    def review(self, card: int, day: int) -> int:
        """Review a learned card; return its rating."""
        recalled = self.draw.random() < self.recall(card, day)
        rating = self._drawn(RATING_IF_RECALLED) if recalled else AGAIN
        self.restudy(card, day, recalled, rating)
        return rating

    def _drawn(self, shares: tuple[tuple[int, float], ...]) -> int:
        return self.draw.choices([one for one, _ in shares], [share for _, share in shares])[0]


class FsrsLearner(Learner):
    """FSRS-6 with drawn weights: each published weight times e^N(0, 0.3), the decay times e^N(0.2, 0.4)."""

    def __init__(self, draw: Random) -> None:
        super().__init__(draw)
        weights = [weight * math.exp(draw.gauss(0, 0.3)) for weight in PUBLISHED]
        weights[20] = min(0.8, max(0.1, PUBLISHED[20] * math.exp(draw.gauss(0.2, 0.4))))
        weights[:4] = sorted(weights[:4])
        self.growth = StabilityGrowth(tuple(weights))
        self.known: dict[int, tuple[float, float, int]] = {}

    def learn(self, card: int, day: int) -> int:
        rating = self._drawn(tuple(enumerate(FIRST_RATINGS, 1)))
        self.known[card] = (self.growth.first(rating), self.growth.first_difficulty(rating), day)
        return rating

    def recall(self, card: int, day: int) -> float:
        if card not in self.known:
            return 0.0
        stability, _, last = self.known[card]
        return self.growth.recall(stability, day - last)

    def restudy(self, card: int, day: int, recalled: bool, rating: int) -> None:
        stability, difficulty, last = self.known[card]
        if day == last:
            stability = self.growth.learned_again(stability)
        else:
            stability = self.growth.rated(stability, difficulty, day - last, rating)
        self.known[card] = (stability, self.growth.harder(difficulty, rating), day)


class PowerLearner(Learner):
    """Pavlik and Anderson's model: traces decay as powers of time, faster if activation was high at their creation."""

    DECAY_SCALE, DECAY_FLOOR, NOISE, DAY = 0.217, 0.177, 0.255, 86_400 * 0.025
    STEP = 600.0

    def __init__(self, draw: Random) -> None:
        super().__init__(draw)
        self.threshold = draw.gauss(-1.5, 0.2)
        self.ease: dict[int, float] = {}
        self.traces: dict[int, list[tuple[float, float]]] = {}

    def learn(self, card: int, day: int) -> int:
        self.ease[card] = self.draw.gauss(0, 0.15)
        self.traces[card] = []
        self._practise(card, day * self.DAY)
        self._practise(card, day * self.DAY + self.STEP)
        return _first_rating(self.draw, self.ease[card] / 0.15)

    def recall(self, card: int, day: int) -> float:
        if card not in self.traces:
            return 0.0
        strength = self._strength(card, day * self.DAY + 1) + self.ease[card]
        return 1 / (1 + math.exp(min(50.0, (self.threshold - strength) / self.NOISE)))

    def restudy(self, card: int, day: int, recalled: bool, rating: int) -> None:
        self._practise(card, day * self.DAY + 1)
        if not recalled:
            self._practise(card, day * self.DAY + self.STEP)

    def _practise(self, card: int, at: float) -> None:
        before = self._strength(card, at)
        self.traces[card].append((at, self.DECAY_SCALE * math.exp(before) + self.DECAY_FLOOR))

    def _strength(self, card: int, at: float) -> float:
        total = sum(max(1.0, at - then) ** -decay for then, decay in self.traces[card])
        return math.log(total) if total else -50.0


class ExponentialLearner(Learner):
    """Half-life model: recall 2^(−t/h). Recall lengthens h, the more the later it is; forgetting cuts it."""

    def __init__(self, draw: Random) -> None:
        super().__init__(draw)
        self.start_days = 5 * math.exp(draw.gauss(0, 0.4))
        self.growth = 1 + 1.8 * math.exp(draw.gauss(0, 0.3))
        self.known: dict[int, tuple[float, int]] = {}

    def learn(self, card: int, day: int) -> int:
        ease = self.draw.gauss(0, 1)
        self.known[card] = (self.start_days * math.exp(0.5 * ease), day)
        return _first_rating(self.draw, ease)

    def recall(self, card: int, day: int) -> float:
        if card not in self.known:
            return 0.0
        half_life, last = self.known[card]
        return float(2 ** (-(day - last) / half_life))

    def restudy(self, card: int, day: int, recalled: bool, rating: int) -> None:
        half_life, last = self.known[card]
        waited = min(1.5, (day - last) / half_life * 2)
        half_life *= 1 + (self.growth - 1) * waited if recalled else 0.6
        self.known[card] = (max(1.0, half_life), day)


MODELS: dict[str, type[Learner]] = {"fsrs": FsrsLearner, "power": PowerLearner, "exponential": ExponentialLearner}


def _first_rating(draw: Random, ease: float) -> int:
    """Draw a first rating that correlates with the card's ease (a standard normal)."""
    told = 0.7 * ease + 0.7 * draw.gauss(0, 1)
    return AGAIN if told < -0.67 else HARD if told < -0.25 else GOOD if told < 1.28 else EASY
