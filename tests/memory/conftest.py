from __future__ import annotations

from typing import Any

from attncli.config import SCHEDULING_KEYS, Settings
from attncli.memory.schedule_policy import Policy


def policy(**changes: Any) -> Policy:
    """The policy of a learner who has set nothing but `changes`."""
    return Policy(**{key: getattr(Settings(), key) for key in SCHEDULING_KEYS} | changes)
