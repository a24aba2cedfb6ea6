"""`{{name}}` in the question of a numeric card: the place of a value that is drawn when the card is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def filled(text: str, labels: Mapping[str, str]) -> str:
    """The text with the label of each name; a name without one stays as it is written."""
    return _SLOT.sub(lambda slot: labels.get(slot[1], slot[0]), text)


def example_labels(parameters: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> dict[str, str]:
    """The labels that lists show: the first value of each parameter, given as (label, value) pairs."""
    return {name: str(choices[0][0]) for name, choices in parameters}
