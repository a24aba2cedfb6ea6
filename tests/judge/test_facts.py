"""Whoever adds a fact adds it everywhere: to the names, to what the judge reads, to the page that lists them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import attncli
from attncli.domain.challenge import FACTS
from attncli.judge.case import Facts

PAGE = Path(attncli.__file__).parent.parent / "docs" / "challenge-format.md"


def test_every_fact_that_has_a_name_is_a_field_of_the_facts_that_the_judge_reads() -> None:
    assert {name.lower() for name in FACTS} == {field.name for field in fields(Facts)}


def test_every_fact_is_told_in_the_format_page() -> None:
    told = set(re.findall(r"\b[A-Z][A-Z_]+\b", PAGE.read_text(encoding="utf-8")))
    assert set(FACTS) <= told
