"""How fast this learner forgets: the FSRS curve, its scale and its decay weighed by the learner's own reviews.

Recall depends on elapsed days over stability alone, so a histogram of that ratio is all that is needed of the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp, log

from attncli.memory.schedule_policy import DEFAULT_DECAY

SAMPLED_CARDS = 400
"""How many cards, the most recently reviewed, tell how a learner forgets: reading a million rows would take long."""
SCALES = (0.1, 0.15, 0.22, 0.33, 0.47, 0.68, 1.0, 1.47, 2.15, 3.16, 4.6)
STEEPNESS = (0.7, 1.0, 1.6, 2.6, 4.2, 7.0, 12.0)
"""Decay, as a multiple of the one that stability was computed with."""
LOG_SCALE, LOG_STEEPNESS = -0.3, 0.3
SCALE_SPREAD, STEEPNESS_SPREAD = 0.7, 0.6
"""Means and standard deviations of the logarithms before a review is seen: a little faster than FSRS expects."""
BINS_PER_UNIT = 4


@dataclass(frozen=True, slots=True)
class Trial:
    """One review of a card on a later day than the one before: what it tells about forgetting."""

    stability_days: float
    elapsed_days: float
    recalled: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A forgetting curve over FSRS stability; `share` is how much it is believed (all shares sum to 1).

    `factor` is the F of (1 + F·t/S)^(−decay).
    """

    scale: float
    decay: float
    share: float = 1.0
    factor: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", float(0.9 ** (-1 / self.decay) - 1) / self.scale)

    def recall(self, stability_days: float, elapsed_days: float) -> float:
        return float((1 + self.factor * max(0.0, elapsed_days) / stability_days) ** -self.decay)

    def ratio_at(self, recall: float) -> float:
        """The elapsed days over stability at which recall has fallen so far."""
        return float(recall ** (-1 / self.decay) - 1) / self.factor


def weigh(trials: Iterable[Trial], decay: float = DEFAULT_DECAY) -> list[Curve]:
    """Every curve of the grid with the share that prior and reviews leave it; never empty."""
    counts: dict[int, list[int]] = {}
    for trial in trials:
        bin = round(BINS_PER_UNIT * log(max(1e-3, trial.elapsed_days / trial.stability_days)))
        counts.setdefault(bin, [0, 0])[trial.recalled] += 1
    logs = {}
    for scale in SCALES:
        for steepness in STEEPNESS:
            curve = Curve(scale, decay * steepness)
            off = ((log(scale) - LOG_SCALE) / SCALE_SPREAD, (log(steepness) - LOG_STEEPNESS) / STEEPNESS_SPREAD)
            logs[curve] = -(off[0] ** 2 + off[1] ** 2) / 2 + sum(
                _likelihood(curve, bin, *seen) for bin, seen in counts.items()
            )
    most = max(logs.values())
    total = sum(exp(value - most) for value in logs.values())
    return [Curve(curve.scale, curve.decay, exp(value - most) / total) for curve, value in logs.items()]


def likely(curves: Iterable[Curve], least_share: float = 0.005) -> list[Curve]:
    """Those that are believed at all, their shares brought to 1 again."""
    kept = [curve for curve in curves if curve.share >= least_share]
    total = sum(curve.share for curve in kept)
    return [Curve(curve.scale, curve.decay, curve.share / total) for curve in kept]


def middle(curves: Iterable[Curve]) -> Curve:
    """One curve to plan with: the mean of the logarithms."""
    listed = list(curves)
    total = sum(curve.share for curve in listed)
    return Curve(
        exp(sum(curve.share * log(curve.scale) for curve in listed) / total),
        exp(sum(curve.share * log(curve.decay) for curve in listed) / total),
        total,
    )


def _likelihood(curve: Curve, bin: int, forgotten: int, recalled: int) -> float:
    chance = min(0.999, max(0.001, curve.recall(1.0, exp(bin / BINS_PER_UNIT))))
    return recalled * log(chance) + forgotten * log(1 - chance)
