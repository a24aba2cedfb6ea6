"""Opening the app, where there is a terminal for it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any, Literal

from attncli.commands.session import session
from attncli.errors import NoTerminal

Screen = Literal["home", "review", "drill", "quiz", "mock"]


def open_app(screen: Screen, alternative: str, **options: Any) -> int:
    """Runs the app, opened at `screen`; its exit code. Raises NoTerminal, which names the plain `alternative`."""
    from attncli.tui.terminal import drawn_in_a_page

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    if not is_terminal and not drawn_in_a_page(os.environ):
        raise NoTerminal(f"the app needs a terminal; {alternative}")
    from attncli.tui.app import run

    current = session()
    settings = replace(current.settings, lang=current.lang)
    return run(current.home, settings, current.clock, screen, **options)
