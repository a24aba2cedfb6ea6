"""Where the app is drawn, and whether that is still there. Textual reads a closed terminal again and again."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"


def drawn_in_a_page(environment: Mapping[str, str]) -> bool:
    """Whether the app draws for a page in a browser (see `attn serve`): through pipes, not on a terminal."""
    return environment.get("TEXTUAL_DRIVER") == WEB_DRIVER


def standard_terminal() -> int | None:
    """The descriptor that keys come from, where it is a terminal (or the server's pipe) that can be watched."""
    stream = sys.__stdin__
    if not hasattr(select, "poll"):  # Windows
        return None
    try:
        watched = stream is not None and (os.isatty(stream.fileno()) or drawn_in_a_page(os.environ))
        return stream.fileno() if stream is not None and watched else None
    except (OSError, ValueError):
        return None


def hung_up(descriptor: int) -> bool:
    """Whether the other side of a terminal is gone: its window was closed, its connection cut."""
    poller = select.poll()
    poller.register(descriptor, 0)  # a hang-up is told in any case
    return bool(poller.poll(0))
