"""Count reviews by study day: compare SQL with counting in Python."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, ReviewDay, RowKind
from attncli.memory.replay import standing
from attncli.store.database import Database

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
FIRST_DAY = AT.toordinal()


def row(number: int, kind: RowKind, subject: str, day: int, payload: dict[str, object]) -> LogRow:
    at = AT + timedelta(days=day, seconds=number)
    return LogRow(f"{number:04}", "m", kind, subject, at, FIRST_DAY + day, payload)


reviews = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(0, 5)), max_size=12).map(
    lambda drawn: [row(n, RowKind.REVIEW, card, day, {"rating": rating}) for n, (card, day, rating) in enumerate(drawn)]
)
undos = st.lists(st.integers(0, 14), max_size=4).map(
    lambda targets: [row(100 + n, RowKind.UNDO, "?", 7, {"row": f"{target:04}"}) for n, target in enumerate(targets)]
)


def by_hand(rows: list[LogRow]) -> list[ReviewDay]:
    days, seen = defaultdict[int, list[int]](lambda: [0, 0, 0]), dict[str, int]()
    for one in standing(rows):
        if not one.is_usable_review:
            continue
        counts, before = days[one.day], seen.get(one.subject)
        counts[0] += 1
        if before is not None and before < one.day:
            counts[1 if one.payload["rating"] > 1 else 2] += 1
        seen[one.subject] = one.day
    return [ReviewDay(day, *counts) for day, counts in sorted(days.items())]


@given(reviews, undos, st.data())
def test_each_day_is_counted_as_by_hand(reviews: list[LogRow], undos: list[LogRow], data: st.DataObject) -> None:
    rows = data.draw(st.permutations([*reviews, *undos]))
    with Database.open(Path(":memory:")) as database, database.transaction():
        database.log.mirror(rows)
        expected = by_hand(rows)
        assert database.log.review_days() == expected
        assert database.log.reviews_by_day() == {day.day: day.reviews for day in expected}


def test_a_conflicting_row_is_reported_and_left(tmp_path: Path) -> None:
    first, other = row(1, RowKind.REVIEW, "a", 0, {"rating": 3}), row(1, RowKind.REVIEW, "a", 0, {"rating": 1})
    conflicts: list[LogRow] = []
    with Database.open(tmp_path / "cache.db") as database:
        with database.transaction():
            assert database.log.merge([first, other], conflicts.append) == [first]
        with database.transaction():
            assert database.log.merge([other], conflicts.append) == []
        assert conflicts == [other, other] and list(database.log.everything()) == [first]
        with pytest.raises(ValueError, match="refused"), database.transaction():
            database.log.merge([row(2, RowKind.REVIEW, "a", 1, {}), other], refuse)
        assert database.log.length() == 1


def refuse(row: LogRow) -> None:
    raise ValueError("refused")
