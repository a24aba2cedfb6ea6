"""Where a line of Chinese may break: beside any CJK character, but for punctuation.

Closing punctuation stays with what precedes it and opening punctuation with what follows (GB/T 15834), so no line
starts with `，` or ends with `（`. A no-break space joins, as its name says.
"""

from __future__ import annotations

import re

from attncli.domain.cells import cells

CLOSING = "，。、；：？！）】》」』〉〕］｝％·…—～”’,.;:?!)]}%"
OPENING = "（【《「『〈〔［｛“‘([{"

_CJK = "\u2e80-\u2fff\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_IDEOGRAPH = rf"(?:(?![{re.escape(CLOSING + OPENING)}])[{_CJK}])"
_CLOSE, _OPEN = f"[{re.escape(CLOSING)}]", f"[{re.escape(OPENING)}]"
_SPACE = r"[^\S\u00a0]"
_LATIN = rf"(?:(?!{_OPEN}+{_IDEOGRAPH})(?:[^\s{_CJK}]|\u00a0))+"
_UNIT = rf"(?:{_OPEN}*(?:{_IDEOGRAPH}|{_LATIN}){_CLOSE}*|{_OPEN}+{_CLOSE}*|{_CLOSE}+|\S)"

WORD = re.compile(rf"{_SPACE}*{_UNIT}{_SPACE}*")
CHUNK = re.compile(rf"{_UNIT}{_SPACE}*|{_SPACE}+")


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a paragraph, none wider than `width` cells unless one word is."""
    lines = [""]
    for chunk in CHUNK.findall(text.strip()):
        if lines[-1] and cells(lines[-1] + chunk.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += chunk
    return lines
