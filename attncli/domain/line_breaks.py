"""Where a line of Chinese may break: beside any CJK character, but for punctuation.

Closing punctuation stays with what precedes it and opening punctuation with what follows (GB/T 15834), so no line
starts with `，` or ends with `（`. A no-break space joins, as its name says.
"""

from __future__ import annotations

import re

from attncli.domain.cells import cells
from attncli.domain.chinese_characters import FULL_WIDTH

CLOSING = "，。、；：？！）】》」』〉〕］｝％·…—～”’,.;:?!)]}%"
OPENING = "（【《「『〈〔［｛“‘([{"

_IDEOGRAPH = rf"(?:(?![{re.escape(CLOSING + OPENING)}])[{FULL_WIDTH}])"
_CLOSE, _OPEN = f"[{re.escape(CLOSING)}]", f"[{re.escape(OPENING)}]"
_SPACE = r"[^\S\u00a0]"
_LATIN = rf"(?:(?!{_OPEN}+{_IDEOGRAPH})(?:[^\s{FULL_WIDTH}]|\u00a0))+"
_UNIT = rf"(?:{_OPEN}*(?:{_IDEOGRAPH}|{_LATIN}){_CLOSE}*|{_OPEN}+{_CLOSE}*|{_CLOSE}+|\S)"

WORD = re.compile(rf"{_SPACE}*{_UNIT}{_SPACE}*")
CHUNK = re.compile(rf"{_UNIT}{_SPACE}*|{_SPACE}+")


def wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    """The lines of a paragraph, none wider than `width` cells unless one word is; all but the first hang so far in."""
    lines = [""]
    for chunk in CHUNK.findall(text.strip()):
        if lines[-1].strip() and cells(lines[-1] + chunk.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append(hanging)
        lines[-1] += chunk
    return lines
