"""The settings that, together with the log, determine every schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

LEECH_LAPSES = 8
"""Forgotten so often, a card is a leech."""
DEFAULT_DECAY = 0.1542


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePolicy:
    """How reviews become intervals: the settings of the same names, and the 21 FSRS-6 weights, none for the published.

    What holds where nothing is set stands in `config.Settings` alone.
    """

    desired_retention: float
    learning_steps: tuple[timedelta, ...]
    relearning_steps: tuple[timedelta, ...]
    maximum_interval_days: int
    fuzz: bool
    parameters: tuple[float, ...] = ()
    topic_retention: tuple[tuple[str, float], ...] = ()

    @property
    def decay(self) -> float:
        """The exponent of the forgetting curve, positive (FSRS-6's last weight)."""
        return self.parameters[20] if self.parameters else DEFAULT_DECAY

    def for_topic(self, topic: str) -> SchedulePolicy:
        """The policy of this topic's cards."""
        return replace(self, desired_retention=dict(self.topic_retention).get(topic, self.desired_retention))

    def without_steps(self) -> SchedulePolicy:
        """The same policy in whole days: challenges are not repeated within minutes."""
        return replace(self, learning_steps=(), relearning_steps=())
