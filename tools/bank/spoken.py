"""Estimate the seconds to say each lead aloud, at 150 English words or 280 Chinese characters a minute.

`python tools/bank/spoken.py` prints the leads of more than 32 seconds, the longest first, and exits 1 if there are any.
Numbers and formulas count as they are spoken: √d_k is "root d k", 0.25 "zero point two five", 70B "seventy billion". A
Latin word among Chinese characters counts as one character, as for `attn bank check`.
"""

from __future__ import annotations

import re
import sys
from unicodedata import normalize

from attncli.bank.loader import bank_files, load_file
from attncli.domain.text import IDEOGRAPHS
from attncli.i18n import LANGS
from attncli.paths import bundled_quizbank

MOST_SECONDS = 32
UNITS_A_MINUTE = {"en": 150, "zh": 280}
# English words and Chinese characters of signs that do not count as one and two
_SIGNS = {"^": (2, 3), "%": (1, 3), "ᵀ": (1, 2), "×": (1, 1), "·": (1, 1), "→": (1, 1), "≤": (2, 4), "≥": (2, 4)}
_TOKEN = re.compile(rf"[{IDEOGRAPHS}]|[^\s{IDEOGRAPHS}，。：；？！、“”（）]+")
_WORD = re.compile(r"[A-Za-z'’.,:;?!()\"“”/–-]*")
_PART = re.compile(r"\d[\d,]*(?:\.\d+)?|[A-Z]?[a-z]{2,}|[^\W\d_]|[^\w\s()\[\]{},.:;?!'’“”|-]|[²³½\u2070-\u209c]")


def seconds(text: str, lang: str) -> float:
    """Return how long it takes to say a text, in seconds."""
    tokens = _TOKEN.findall(normalize("NFD", text))
    return sum(_units(token, LANGS.index(lang)) for token in tokens) * 60 / UNITS_A_MINUTE[lang]


def _units(token: str, column: int) -> int:
    if _WORD.fullmatch(token):
        return int(any(char.isalpha() for char in token))
    parts = _PART.findall(token)
    signs = {part: _SIGNS.get(part, (1, 2 - part.isalpha()))[column] for part in parts}
    return sum(_number(part, column) if part[0].isdecimal() else signs[part] for part in parts)


def _number(text: str, column: int) -> int:
    """Count words or characters: 2,048 is "two thousand forty-eight", 二千零四十八."""
    whole, _, decimals = text.replace(",", "").partition(".")
    groups = [int(group) for group in f"{int(whole):,}".split(",")]
    words = sum((group >= 100) * 2 + (group % 100 > 0) + 1 for group in groups if group) - (groups[-1] > 0)
    tens = sum(digit != "0" and (len(whole) - place) % 4 != 1 for place, digit in enumerate(whole))
    digits = len(re.findall("[1-9]|(?<=[1-9])0+(?=[1-9])", whole))
    return max((words, digits + tens + (len(whole) - 1) // 4)[column], 1) + len(decimals) + (decimals > "")


def too_long() -> list[str]:
    """Return card, language and seconds of each lead that takes too long, the longest first."""
    cards = [card for file in bank_files(bundled_quizbank()) for card in load_file(file).documents if card.get("lead")]
    said = [(seconds(card["lead"][lang], lang), card["id"], lang) for card in cards for lang in LANGS]
    return [f"{id} {lang}: {length:.1f} s" for length, id, lang in sorted(said, reverse=True) if length > MOST_SECONDS]


if __name__ == "__main__":
    sys.exit("\n".join(too_long()) or None)
