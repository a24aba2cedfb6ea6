from __future__ import annotations

from typing import Any

from attncli.config import SCHEDULING_KEYS, Settings
from attncli.memory.scheduler import SchedulePolicy


def policy(**changes: Any) -> SchedulePolicy:
    """Return the default policy with these `changes`."""
    return SchedulePolicy(**{key: getattr(Settings(), key) for key in SCHEDULING_KEYS} | changes)
