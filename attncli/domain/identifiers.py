"""What cards, topics and challenges may be called."""

from __future__ import annotations

import re

PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
LONGEST = 60

_IDENTIFIER = re.compile(PATTERN.removesuffix("$") + r"\Z")


def is_identifier(name: str, longest: int = LONGEST) -> bool:
    """Whether a name is of lower-case letters, digits and single hyphens."""
    return len(name) <= longest and _IDENTIFIER.match(name) is not None
