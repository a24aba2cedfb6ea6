"""Characters of Chinese text, as ranges for the brackets of a regular expression."""

from __future__ import annotations

import re

IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
KANA = "\u3040-\u30ff"
FULL_WIDTH = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
"""Between two of these no blank is written: punctuation too."""

_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")


def is_chinese(text: str) -> bool:
    """Whether anything in a text is written in Chinese."""
    return _IDEOGRAPH.search(text) is not None
