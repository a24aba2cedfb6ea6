"""What an unquoted word of a bank file means.

Far fewer words are special than in YAML 1.1: null, true and false, decimal numbers. Everything else is text: `no`,
`2017-06`, `1_000`, `0x10`, `1:30`, `.inf`.
"""

from __future__ import annotations

import math
import re

Scalar = bool | int | float | str | None

_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "True": True,
    "false": False,
    "False": False,
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?(?:[eE][-+]?[0-9]{1,4})?\Z")
_NUMBER_STARTS = frozenset("+-0123456789")


def resolve(word: str) -> Scalar:
    """The value of an unquoted scalar.

    >>> resolve("24"), resolve("1e-5"), resolve("true"), resolve("no"), resolve("2017-06")
    (24, 1e-05, True, 'no', '2017-06')
    """
    if word in _WORDS:
        return _WORDS[word]
    if word[0] not in _NUMBER_STARTS or len(word) > 90:
        return word
    if _INTEGER.match(word):
        return int(word)
    if _FLOAT.match(word):
        number = float(word)
        return number if math.isfinite(number) else word
    return word
