"""What a call says of its language and its folder, where the parser has not read it to its end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from attncli.commands.session import Session
from attncli.domain.text import LANGS


def read_ahead(words: Sequence[str], current: Session) -> None:
    """Takes over `--lang` and `--home` from `words`, wherever they stand, unless they were read already.

    `--help` ends a call before the options behind it are read, and so does a mistake.
    """
    for name, value in _given(words):
        if name == "--lang" and current.lang_option is None:
            current.lang_option = next((lang for lang in LANGS if lang == value), None)
        if name == "--home" and current.home_folder is None and value:
            current.home_folder = Path(value)


def _given(words: Sequence[str]) -> list[tuple[str, str]]:
    apart = [(name, value) for name, value in pairwise(words) if name in ("--lang", "--home")]
    return apart + [(name, value) for name, sign, value in (word.partition("=") for word in words) if sign]
