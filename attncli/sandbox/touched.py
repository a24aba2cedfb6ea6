"""What the learner's code tried to touch, noted by an audit hook: advice for the report.

The kernel's layers do the refusing. This only makes sure that an attempt whose refusal was swallowed is still reported.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_EVENTS = frozenset(
    [
        *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"),
        *("subprocess.Popen", "os.kill", "os.killpg", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link"),
        *("os.symlink", "os.chmod", "os.chown", "os.truncate", "os.utime", "os.setxattr"),
    ]
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_KEPT = 100


class Attempts:
    """Event names since the last `take`, each once."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}

    def watch(self) -> None:
        """Start noting, for good: audit hooks cannot be removed."""
        sys.addaudithook(self._note)

    def take(self) -> list[str]:
        """What was noted since the last call."""
        seen, self._seen = list(self._seen), {}
        return seen

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if _writes(arguments) and len(self._seen) < _KEPT:
                self._seen["open"] = None
        elif event == "os.mkdir" and _exists(arguments[0]):
            return
        elif (event in _EVENTS or event.startswith("socket.")) and len(self._seen) < _KEPT:
            self._seen[event] = None


def _exists(path: Any) -> bool:
    return type(path) is str and os.path.isdir(path)  # noqa: PTH112 - a hook must not make objects for every event


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    return type(flags) is int and bool(flags & _WRITING) and type(path) is not int and path != os.devnull
