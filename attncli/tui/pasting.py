"""What is pasted is text: nothing in it is a key, and nothing in it is hidden.

Terminals put marks around what is pasted. Textual looks for keys between them too (a private name:
`textual._xterm_parser.XTermParser`), so an escape in a pasted log leaves the screen, and the signs behind it are
pressed one by one. `install` takes the escapes out before they are read; where a later Textual has no such name,
nothing is changed. Signs that nobody sees, as copied from a web page, would be an error that nobody finds.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from attncli.domain.printable import printable

ESCAPE, BEGIN, END = "\x1b", "\x1b[200~", "\x1b[201~"
KEY = "\x1b[2"
"""What begins like this goes on: no key is waited for that is there already."""
_CONTROL = "\x9b"
"""The same as an escape with a bracket, in one sign, by which no key begins."""


def as_text(pasted: str) -> str:
    """What is pasted as it would have been typed: without hidden signs, blanks that join as blanks."""
    return printable(pasted).replace("\xa0", " ")


class PastedEscapes:
    """What a terminal sends, piece by piece, without the escapes between the marks of a paste."""

    def __init__(self) -> None:
        self._is_inside = False
        self._held = ""

    def without(self, piece: str) -> str:
        """Holds back what may be the beginning of the mark. An escape alone is a key; no paste goes on behind it."""
        if piece == ESCAPE and not self._held:
            self._is_inside = False
            return piece
        left, self._held = self._held + piece, ""
        passed = []
        while left:
            text, mark, left = left.partition(END if self._is_inside else BEGIN)
            if not mark:
                self._held = _begun(END, 1, text) if self._is_inside else _begun(BEGIN, len(KEY), text)
                text = text.removesuffix(self._held)
            passed += [_without_escapes(text) if self._is_inside else text, mark]
            self._is_inside ^= bool(mark)
        return "".join(passed)


def _without_escapes(text: str) -> str:
    return text.replace(f"{ESCAPE}[", _CONTROL).replace(ESCAPE, "")


def _begun(mark: str, least: int, text: str) -> str:
    """The beginning of `mark` with which `text` ends, of `least` signs or more."""
    return next((mark[:length] for length in range(len(mark) - 1, least - 1, -1) if text.endswith(mark[:length])), "")


def install() -> None:
    """Makes Textual read no key in what is pasted."""
    parser: Any = getattr(import_module("textual._xterm_parser"), "XTermParser", None)
    feed = getattr(parser, "feed", None)
    if feed is None or hasattr(feed, "reads_pastes"):
        return
    streams: WeakKeyDictionary[object, PastedEscapes] = WeakKeyDictionary()

    def read(self: object, data: str) -> Iterable[Any]:
        passed = streams.setdefault(self, PastedEscapes()).without(data)
        return feed(self, passed) if passed or not data else ()

    read.reads_pastes = True  # type: ignore[attr-defined]
    parser.feed = read
