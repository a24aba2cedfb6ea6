"""Chinese wraps to the edge of the line, in every Textual widget.

Rich and Textual wrap at white space only, so a run of Chinese counts as one word and leaves ragged lines. Both find
words with one regular expression each (private names: `rich._wrap.re_word`, `textual._wrap.re_chunk`), which `install`
replaces by one of `domain.line_breaks`. Inline formulas rely on a no-break space that joins. Where a later Rich or
Textual has no such name, nothing is changed.
"""

from __future__ import annotations

import re
from types import ModuleType

import rich._wrap
import textual._wrap

from attncli.domain.line_breaks import CHUNK, WORD


def install() -> None:
    """Makes Rich and Textual break lines beside CJK characters; does nothing to a library that has moved on."""
    _replace(rich._wrap, "re_word", WORD)
    _replace(textual._wrap, "re_chunk", CHUNK)


def _replace(module: ModuleType, name: str, pattern: re.Pattern[str]) -> None:
    if hasattr(module, name):
        setattr(module, name, pattern)
