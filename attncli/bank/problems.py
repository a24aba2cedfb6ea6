"""What is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from attncli.domain.printable import marked

MAX_GUESSES = 5000
REPLACEMENT = "\ufffd"

Way = tuple[str | int, ...]
"""The way from the top of a file to a value: keys of mappings, 0-based positions in lists."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One line of `attn bank check`; `line` and `column` count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"

    def as_json(self) -> dict[str, str | int]:
        return {"file": self.file, "line": self.line, "column": self.column, "message": self.message}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem whose place is still a path; `at_key` points at the key rather than at its value.

    A note (`error` false) is worth knowing and makes no file invalid. `shape` says that the value there has not the
    form its place asks for, so that nothing more can be said of it.
    """

    path: Way
    message: str
    at_key: bool = field(default=False, kw_only=True)
    error: bool = field(default=True, kw_only=True)
    shape: bool = field(default=False, kw_only=True)

    def below(self, way: Way) -> Finding:
        """The same finding, seen from further up: `way` leads to where its path starts."""
        return replace(self, path=(*way, *self.path))


def shown(value: object, limit: int = 60) -> str:
    """The value as it can stand in a message: on one line, quoted, not too long."""
    text = visible(" ".join(str(value).split()))
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return f'"{text}"'


def shown_path(path: os.PathLike[str]) -> str:
    """A file's name as it can stand in a message, whatever bytes it has; below the working folder, from there."""
    whole, here = Path(path), Path.cwd()
    return visible(str(whole.relative_to(here) if whole.is_relative_to(here) else whole))


def visible(text: str) -> str:
    """The text on one line, with a sign in place of whatever a terminal does not simply show."""
    shown = marked(text, REPLACEMENT)
    return shown if shown.isprintable() else "".join(char if char.isprintable() else REPLACEMENT for char in shown)


def one_of(words: Iterable[str]) -> str:
    """`use one of a, b, c`."""
    return "use one of " + ", ".join(words)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean "level"?`, or nothing when no known word is close."""
    words = sorted(known)
    close = difflib.get_close_matches(word[:60], words, n=1, cutoff=0.7) if len(words) <= MAX_GUESSES else []
    return f'did you mean "{close[0]}"?' if close else ""
