"""Pieces of Markdown around text that may hold anything."""

from __future__ import annotations

import re


def fence(source: str) -> str:
    """A code fence longer than any run of backticks in `source`."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    return "`" * max(3, longest + 1)


def code_block(source: str, language: str = "") -> str:
    """`source` as a block of code."""
    ticks = fence(source)
    return f"{ticks}{language}\n{source}\n{ticks}"


def code_span(source: str) -> str:
    """`source`, one line, as code in a sentence."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if source.startswith("`") or source.endswith("`") else ""
    return f"{ticks}{pad}{' '.join(source.split())}{pad}{ticks}"
