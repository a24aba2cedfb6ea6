"""Standard input line by line, without a thread that would wait in it: Ctrl-C ends the program at once."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from typing import Any

CHUNK_BYTES = 65536


def interruptible_lines() -> Any:
    """What the SDK takes for standard input; None where it has to wait in a thread of its own (Windows)."""
    return None if sys.platform == "win32" else lines_of(sys.stdin.fileno())


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """The lines that a pipe, a terminal or a file gives, up to its end."""
    begun = b""
    while chunk := await _chunk(descriptor):
        *whole, begun = (begun + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
    if begun:
        yield begun.decode("utf-8", "replace")


async def _chunk(descriptor: int) -> bytes:
    from anyio import wait_readable

    try:
        await wait_readable(descriptor)
    except PermissionError:
        return os.read(descriptor, CHUNK_BYTES)  # a plain file is not waited for: it never blocks
    return os.read(descriptor, CHUNK_BYTES)
