"""Require that docs/challenge-format.md lists every fact."""

from __future__ import annotations

import re
from pathlib import Path

import attncli
from attncli.domain.challenge import FACTS

PAGE = Path(attncli.__file__).parent.parent / "docs" / "challenge-format.md"


def test_every_fact_is_told_in_the_format_page() -> None:
    told = set(re.findall(r"\b[A-Z][A-Z_]+\b", PAGE.read_text(encoding="utf-8")))
    assert set(FACTS) <= told
