"""Standard output as it can be: closed, full, or read by somebody who has had enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def discard() -> None:
    """Sends what is still to be printed nowhere; the interpreter flushes stdout once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stand_in_for_closed() -> None:
    """A program that is started without stdout or stderr has None in their place."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - as long as the program


@contextmanager
def verdict_counts() -> Iterator[None]:
    """Around the output of a command whose exit code is a verdict: it stays so when nobody reads to the end."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard()
