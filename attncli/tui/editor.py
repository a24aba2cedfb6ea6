"""Which command opens a file for editing."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping

_USUAL = ("nano", "vim", "vi", "notepad")


def editor_command(
    setting: str, environ: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """The words of the command: the setting, `$VISUAL`, `$EDITOR`, then what is usually there; empty if nothing is."""
    for choice in (setting, environ.get("VISUAL", ""), environ.get("EDITOR", "")):
        if words := _words(choice):
            return words
    return next(([name] for name in _USUAL if which(name)), [])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]
