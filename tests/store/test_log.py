from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, RowKind
from attncli.store.database import Database
from attncli.store.log import microseconds, moment

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "cache.db") as opened:
        yield opened


def refuse(row: LogRow) -> None:
    raise ValueError("refused")


def review(database: Database, subject: str = "card", minutes: int = 0) -> LogRow:
    at = AT + timedelta(minutes=minutes)
    with database.transaction():
        return database.log.append(RowKind.REVIEW, subject, at, at.toordinal(), {"rating": 3, "说明": "√d"})


@given(st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_moments_survive_to_the_microsecond(at: datetime) -> None:
    assert moment(microseconds(at)) == at


def test_what_is_written_is_read(database: Database) -> None:
    row = review(database)
    assert list(database.log.everything()) == database.log.of_subjects(["card"]) == [row]
    assert row.payload["说明"] == "√d"


def test_ids_grow_so_that_rows_of_one_moment_keep_their_order(database: Database) -> None:
    rows = [review(database) for _ in range(20)]
    assert database.log.of_subjects(["card"]) == rows
    assert sorted(row.id for row in rows) == [row.id for row in rows]


def test_a_transaction_that_fails_leaves_nothing(database: Database) -> None:
    with pytest.raises(RuntimeError), database.transaction():
        database.log.append(RowKind.REVIEW, "card", AT, 1, {"rating": 3})
        raise RuntimeError
    assert database.log.length() == 0


def test_undone_reviews_are_not_counted_nor_taken_back_twice(database: Database) -> None:
    first, second = review(database, "a", minutes=5), review(database, "b", minutes=0)
    assert database.log.last_here([RowKind.REVIEW]) == second
    for target, left in ((second, first), (first, None)):
        with database.transaction():
            database.log.append(RowKind.UNDO, target.subject, AT, 1, {"row": target.id})
        assert database.log.last_here([RowKind.REVIEW]) == left
    assert database.log.review_days() == []


def test_reviews_of_another_machine_are_not_taken_back(database: Database) -> None:
    own = review(database)
    with database.transaction():
        database.log.merge([LogRow("z", "other", RowKind.REVIEW, "card", AT, 1, {"rating": 1})], refuse)
    assert database.log.last_here([RowKind.REVIEW]) == own


def test_by_subject_gives_each_subject_whole(database: Database) -> None:
    for number in range(30):
        review(database, f"card-{number % 7}", minutes=-number)
    groups = list(database.log.by_subject())
    assert [subject for subject, _ in groups] == sorted(f"card-{n}" for n in range(7))
    assert all(rows == database.log.of_subjects([subject]) for subject, rows in groups)


rows = st.lists(
    st.builds(
        lambda number, machine, minutes: LogRow(
            f"{number:03}-{machine}", machine, RowKind.REVIEW, "card", AT + timedelta(minutes=minutes), 1, {"rating": 2}
        ),
        st.integers(0, 30),
        st.sampled_from("ab"),
        st.just(0),
    ),
    max_size=20,
    unique_by=lambda row: row.id,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, rows)
def test_merging_is_a_union_in_any_order_and_any_number_of_times(
    tmp_path_factory: pytest.TempPathFactory, one: list[LogRow], other: list[LogRow]
) -> None:
    found = []
    for order in ((one, other), (other, one, other, one)):
        with Database.open(tmp_path_factory.mktemp("merge") / "cache.db") as database:
            for batch in order:
                with database.transaction():
                    database.log.merge(batch, refuse)
            found.append(list(database.log.everything()))
    assert found[0] == found[1]
    assert {row.id for row in found[0]} == {row.id for row in [*one, *other]}


def test_a_row_that_changed_on_the_way_is_refused_and_nothing_is_merged(database: Database) -> None:
    row = review(database)
    forged = LogRow(row.id, row.machine, row.kind, row.subject, row.at, row.day, {"rating": 1})
    extra = LogRow("new", "m", RowKind.REVIEW, "card", AT, 1, {"rating": 1})
    with pytest.raises(ValueError, match="refused"), database.transaction():
        database.log.merge([extra, forged], refuse)
    assert database.log.length() == 1
