"""The settings that, together with the log, determine every schedule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

LEARNING_STEPS = (timedelta(minutes=1), timedelta(minutes=10))
RELEARNING_STEPS = (timedelta(minutes=10),)
MAXIMUM_INTERVAL_DAYS = 36_500
DEFAULT_DECAY = 0.1542


@dataclass(frozen=True, slots=True)
class Policy:
    """How reviews become intervals. `parameters` are the 21 FSRS-6 weights, empty for the published defaults."""

    parameters: tuple[float, ...] = ()
    desired_retention: float = 0.9
    learning_steps: tuple[timedelta, ...] = LEARNING_STEPS
    relearning_steps: tuple[timedelta, ...] = RELEARNING_STEPS
    maximum_interval_days: int = MAXIMUM_INTERVAL_DAYS
    fuzz: bool = True

    @property
    def decay(self) -> float:
        """The exponent of the forgetting curve, positive (FSRS-6's last weight)."""
        return self.parameters[20] if self.parameters else DEFAULT_DECAY

    def without_steps(self) -> Policy:
        """The same policy in whole days: challenges are not repeated within minutes."""
        return replace(self, learning_steps=(), relearning_steps=())
