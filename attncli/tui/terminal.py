"""Whether the terminal is still there. Textual reads a closed one again and again, as fast as it can."""

from __future__ import annotations

import os
import select
import sys


def standard_terminal() -> int | None:
    """The descriptor that keys come from, where it is a terminal that can be watched."""
    stream = sys.__stdin__
    if not hasattr(select, "poll"):  # Windows
        return None
    try:
        return stream.fileno() if stream is not None and os.isatty(stream.fileno()) else None
    except (OSError, ValueError):
        return None


def hung_up(descriptor: int) -> bool:
    """Whether the other side of a terminal is gone: its window was closed, its connection cut."""
    poller = select.poll()
    poller.register(descriptor, 0)  # a hang-up is told in any case
    return bool(poller.poll(0))
