"""Keep the cache in step with the history, and read rows back: merged, undone, counted by study day."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, ReviewDay, RowKind
from attncli.errors import StoreUnwritable
from attncli.memory.replay import standing
from attncli.store.database import Database
from attncli.store.history import History
from attncli.store.log import microseconds, moment

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
FIRST_DAY = AT.toordinal()


def review(database: Database, subject: str = "card", minutes: int = 0) -> LogRow:
    at = AT + timedelta(minutes=minutes)
    with database.transaction():
        return database.log.append(RowKind.REVIEW, subject, at, at.toordinal(), {"rating": 3, "说明": "√d"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.db"


@pytest.fixture
def rows(path: Path) -> list[LogRow]:
    with Database.open(path) as database:
        return [review(database, f"kv-0{n % 3}", n) for n in range(9)]


def test_a_transaction_that_fails_leaves_nothing(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database:
        with pytest.raises(KeyError), database.transaction():
            database.log.append(RowKind.REVIEW, "kv-09", AT, AT.toordinal(), {"rating": 1})
            raise KeyError
        with pytest.raises(AssertionError, match="inside a transaction"):
            database.log.append(RowKind.REVIEW, "kv-09", AT, AT.toordinal(), {"rating": 1})
        assert list(database.log.everything()) == rows
        assert review(database, "kv-04", 99).id not in {row.id for row in rows}, "and it goes on"
    with Database.open(path) as database:
        assert database.log.length() == len(rows) + 1 and database.damages() == []


@pytest.mark.parametrize("what", ["deleted", "random", "cut", "empty", "another version", "another program", "beside"])
def test_a_cache_that_does_not_fit_is_made_anew(path: Path, rows: list[LogRow], what: str) -> None:
    if what == "deleted":
        path.unlink()
    elif what == "random":
        path.write_bytes(Random(3).randbytes(20_000))
    elif what == "cut":
        os.truncate(path, path.stat().st_size * 3 // 5)
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "beside":
        path.with_name("cache.db-wal").write_bytes(Random(4).randbytes(9_000))
    else:
        with sqlite3.connect(path) as cache:
            cache.execute(f"PRAGMA {'user_version' if what == 'another version' else 'application_id'} = 77")
        cache.close()
    with Database.open(path) as database:
        assert list(database.log.everything()) == rows and database.damages() == []


def test_rows_that_were_not_mirrored_are_read_and_make_subjects_stale(path: Path, rows: list[LogRow]) -> None:
    """As after a kill between writing and mirroring, or if another machine's file appeared by itself."""
    with History(path.parent).writing() as writer:
        late = writer.add(RowKind.REVIEW, "kv-07", AT, AT.toordinal(), {"rating": 2})
    with Database.open(path) as database:
        assert late in list(database.log.everything()) and database.stale_subjects() == ["kv-07"]
        assert review(database, "kv-08", 50) in list(database.log.everything())
        with database.connection.transaction():
            database.none_is_stale()
    with Database.open(path) as database:
        assert database.stale_subjects() == [] and database.log.length() == len(rows) + 2


def test_two_open_databases_see_each_others_rows_and_number_theirs_in_turn(path: Path) -> None:
    with Database.open(path) as one, Database.open(path) as other:
        written = [review(one if n % 2 else other, "kv-01", n) for n in range(8)]
        assert list(one.log.everything()) == list(other.log.everything()) == written
    with Database.open(path) as database:
        assert database.damages() == []


def test_a_cache_that_was_deleted_while_open_loses_nothing(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database:
        path.unlink()
        late = review(database, "kv-01", 60)
        with Database.open(path) as other:
            assert list(other.log.everything()) == [*rows, late]
            review(other, "kv-02", 61)
        review(database, "kv-02", 62)
    with Database.open(path) as again:
        assert again.log.length() == len(rows) + 3 and again.damages() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_where_nothing_can_be_written_everything_can_be_read(path: Path, rows: list[LogRow]) -> None:
    path.parent.chmod(0o500)
    try:
        with Database.open(path) as database:
            assert list(database.log.everything()) == rows and "make" in database.unwritable
            with pytest.raises(StoreUnwritable):
                review(database, "kv-01", 99)
    finally:
        path.parent.chmod(0o700)


def test_the_history_is_replaced_as_a_whole_under_a_new_id(path: Path, rows: list[LogRow]) -> None:
    with Database.open(path) as database:
        before = database.history.machine
        database.replace_history(rows[:4], lambda: None)
        assert list(database.log.everything()) == rows[:4]
        new = review(database, "kv-01", 80)
        assert new.machine != before
    with Database.open(path) as database:
        assert list(database.log.everything()) == [*rows[:4], new] and database.damages() == []


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "cache.db") as opened:
        yield opened


def refuse(row: LogRow) -> None:
    raise ValueError("refused")


@given(st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_moments_survive_to_the_microsecond(at: datetime) -> None:
    assert moment(microseconds(at)) == at


def test_what_is_written_is_read_in_order_though_of_one_moment_and_by_subject(database: Database) -> None:
    rows = [review(database) for _ in range(20)]
    assert list(database.log.everything()) == database.log.of_subjects(["card"]) == rows
    assert rows[0].payload["说明"] == "√d" and sorted(row.id for row in rows) == [row.id for row in rows]
    for number in range(30):
        review(database, f"card-{number % 7}", minutes=-number)
    groups = list(database.log.by_subject())
    assert [subject for subject, _ in groups] == ["card", *sorted(f"card-{n}" for n in range(7))]
    assert all(rows == database.log.of_subjects([subject]) for subject, rows in groups)


def test_undone_reviews_are_not_counted_nor_taken_back_twice(database: Database) -> None:
    first, second = review(database, "a", minutes=5), review(database, "b", minutes=0)
    with database.transaction():
        database.log.merge([LogRow("z", "other", RowKind.REVIEW, "card", AT, 1, {"rating": 1})], refuse)
    assert database.log.last_here([RowKind.REVIEW]) == second, "reviews of another machine are not taken back"
    for target, left in ((second, first), (first, None)):
        with database.transaction():
            database.log.append(RowKind.UNDO, target.subject, AT, 1, {"row": target.id})
        assert database.log.last_here([RowKind.REVIEW]) == left
    assert [day.reviews for day in database.log.review_days()] == [1]


merged_row = st.tuples(st.integers(0, 30), st.sampled_from("ab")).map(
    lambda of: LogRow(f"{of[0]:03}-{of[1]}", of[1], RowKind.REVIEW, "card", AT, 1, {"rating": 2})
)
merged_rows = st.lists(merged_row, max_size=20, unique_by=lambda row: row.id)


@settings(max_examples=12)
@given(merged_rows, merged_rows)
def test_merging_is_a_union_in_any_order_and_any_number_of_times(one: list[LogRow], other: list[LogRow]) -> None:
    found = []
    for order in ((one, other), (other, one, other, one)):
        with TemporaryDirectory() as folder, Database.open(Path(folder, "cache.db")) as database:
            for batch in order:
                with database.transaction():
                    database.log.merge(batch, refuse)
            found.append(list(database.log.everything()))
    assert found[0] == found[1]
    assert {row.id for row in found[0]} == {row.id for row in [*one, *other]}


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
