"""Full-width keys: with a Chinese input method on, `1` arrives as `１`, `?` as `？` and `/` as `、`."""

from __future__ import annotations

import unicodedata

_NAMES = {"!": "exclamation_mark", "?": "question_mark", "/": "slash", "-": "minus", ",": "comma", " ": "space"}
_OTHER_TWINS = {"、": "slash"}


def ascii_twin(character: str | None) -> str:
    """The name of the ASCII key that a full-width character stands for; empty for any other character."""
    if not character or len(character) != 1 or character.isascii():
        return ""
    if character in _OTHER_TWINS:
        return _OTHER_TWINS[character]
    twin = unicodedata.normalize("NFKC", character)
    if len(twin) != 1 or not twin.isascii():
        return ""
    return _NAMES.get(twin, twin) if twin in _NAMES or twin.isalnum() else ""
