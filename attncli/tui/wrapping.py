"""Chinese wraps to the edge of the line, in every Textual widget.

Rich and Textual wrap at white space only, so a run of Chinese counts as one word and leaves ragged lines. Both find
words with one regular expression each (private names: `rich._wrap.re_word`, `textual._wrap.re_chunk`), which `install`
replaces by one that may break beside any CJK character. Closing punctuation stays with what precedes it and opening
punctuation with what follows (GB/T 15834), so no line starts with `，` or ends with `（`. A no-break space joins, as
its name says; inline formulas rely on that. Where a later Rich or Textual has no such name, nothing is changed.
"""

from __future__ import annotations

import re
from types import ModuleType

import rich._wrap
import textual._wrap

CLOSING = "，。、；：？！）】》」』〉〕｝％·…—～”’,.;:?!)]}%"
OPENING = "（【《「『〈〔｛“‘([{"

_CJK = "\u2e80-\u2fff\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_IDEOGRAPH = rf"(?:(?![{re.escape(CLOSING + OPENING)}])[{_CJK}])"
_CLOSE, _OPEN = f"[{re.escape(CLOSING)}]", f"[{re.escape(OPENING)}]"
_SPACE = r"[^\S\u00a0]"
_LATIN = rf"(?:(?!{_OPEN}+{_IDEOGRAPH})(?:[^\s{_CJK}]|\u00a0))+"
_UNIT = rf"(?:{_OPEN}*(?:{_IDEOGRAPH}|{_LATIN}){_CLOSE}*|{_OPEN}+{_CLOSE}*|{_CLOSE}+|\S)"

WORD = re.compile(rf"{_SPACE}*{_UNIT}{_SPACE}*")
CHUNK = re.compile(rf"{_UNIT}{_SPACE}*|{_SPACE}+")


def install() -> None:
    """Makes Rich and Textual break lines beside CJK characters; does nothing to a library that has moved on."""
    _replace(rich._wrap, "re_word", WORD)
    _replace(textual._wrap, "re_chunk", CHUNK)


def _replace(module: ModuleType, name: str, pattern: re.Pattern[str]) -> None:
    if hasattr(module, name):
        setattr(module, name, pattern)
