"""Facts that age: which cards say how things stood more than a year ago."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from attncli.bank.problems import Finding


def age_findings(card: Mapping[str, Any], today: date) -> Iterator[Finding]:
    """A note where `as_of` lies more than a year back, as finely as it is written: `2025-06` or `2025`."""
    as_of = card.get("as_of") or ""
    year_ago = f"{today.year - 1}{today.isoformat()[4:]}"
    if as_of and as_of < year_ago[: len(as_of)]:
        said = f"what {card['id']} says is as of {as_of}, more than a year ago"
        yield Finding(("as_of",), f"{said}; read it again and write the new date", error=False)
