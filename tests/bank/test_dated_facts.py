"""Check dates of ageing facts against a given day."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings

TODAY = date(2026, 11, 22)


def test_facts_of_more_than_a_year_ago_are_noted(
    cards: dict[str, Any], bank_file: Callable[..., Path], around: Surroundings
) -> None:
    for as_of, is_old in (
        ("2025", False),
        ("2024", True),
        ("2025-11", False),
        ("2025-10", True),
        ("2025-11-22", False),
        ("2025-11-21", True),
        ("2026-12", False),
    ):
        report = check([bank_file(cards["qa"] | {"as_of": as_of})], around, TODAY)
        assert report.problems == ()
        notes = [note.message.en for note in report.notes if "as of" in note.message.en]
        said = f"att-01 is as of {as_of}, more than a year ago; check it and write the new date"
        assert notes == ([said] if is_old else [])
    report = check([bank_file(cards["qa"] | {"as_of": "2027-02-28"})], around, date(2028, 2, 29))
    assert [note for note in report.notes if "as of" in note.message.en]
    assert check([bank_file(cards["qa"] | {"as_of": "1999"})], around).notes == ()
