"""Standard output as it can be: closed, full, or read by somebody who has had enough; the only way to print."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from attncli.domain.printable import printable

ERASE_LINE = "\r\x1b[2K"


def echo(text: object = "", *, err: bool = False, end: str = "\n") -> None:
    """Prints `text` without whatever in it would steer a terminal or hide; commands print through this alone."""
    print(printable(str(text)), end=end, file=sys.stderr if err else sys.stdout, flush=True)


def echo_bytes(document: bytes) -> None:
    """Writes a document that is no text, such as a PDF, into a pipe."""
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()


def show_progress(text: str) -> None:
    """Replaces the line on stderr by `text`, where a person can see it; says nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{ERASE_LINE}{printable(text)}")
        sys.stderr.flush()


def show_thousands(done: int) -> None:
    """Shows how many are done, at every thousandth."""
    if done % 1000 == 0:
        show_progress(f"{done} …")


def discard(stream: TextIO | None = None) -> None:
    """Sends what is still to be printed nowhere; the interpreter flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def let_go_of_stderr() -> None:
    """What the app had still to draw when its window was closed is given up: Python would end with 120 over it."""
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


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
