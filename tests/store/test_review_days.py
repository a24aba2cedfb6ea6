"""What is counted as rows come is what counting all of them gives; an older database is counted when it is opened."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, RowKind
from attncli.store import migrations
from attncli.store.connection import APPLICATION_ID
from attncli.store.database import Database
from attncli.store.log import _values

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


@given(reviews, undos, st.data())
def test_counting_row_by_row_in_any_order_is_counting_the_whole(
    reviews: list[LogRow], undos: list[LogRow], data: st.DataObject
) -> None:
    arriving = data.draw(st.permutations([*reviews, *undos]))
    cut = data.draw(st.integers(0, len(arriving)))
    with Database.open(Path(":memory:")) as database, database.transaction():
        database.log.merge(arriving[:cut])
        for one in arriving[cut:]:
            database.log.merge([one])
        kept = database.log.review_days.all()
        database.log.review_days.rebuild()
        assert database.log.review_days.all() == kept


def test_a_database_of_the_second_format_is_counted_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "progress.db"
    raw = sqlite3.connect(path)
    raw.create_function("row_checksum", 7, migrations.checksum_if_readable)
    for step in migrations.STEPS[:2]:
        for statement in migrations.statements(step):
            raw.execute(statement)
    rows = [
        row(n, RowKind.REVIEW, "a", day, {"rating": 3, "points": [n - 1], "correct": n != 2})
        for n, day in enumerate((0, 4, 4, 9))
    ]
    rows.append(row(9, RowKind.UNDO, "a", 9, {"row": "0003"}))
    for number, one in enumerate(rows, 1):
        raw.execute(f"INSERT INTO log VALUES ({', '.join('?' * 9)})", (number, *_values(one)))
    values = ("a", "review", 5.0, 5.0, None, 0, FIRST_DAY + 4, 0, 6.0, 3, 1, FIRST_DAY, "0002")
    raw.execute(f"INSERT INTO schedule VALUES ({', '.join('?' * 13)})", values)
    raw.execute("INSERT INTO queue VALUES ('a', 'att', 7, 'review', 0, 0, 0), ('b', 'att', 8, 'new', 0, 0, 0)")
    raw.execute("PRAGMA user_version = 2")
    raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    raw.execute("INSERT OR REPLACE INTO meta VALUES ('format', '2')")
    raw.commit()
    raw.close()
    with Database.open(path) as database:
        assert database.log.review_days.all() == [(FIRST_DAY, 1, 0, 0), (FIRST_DAY + 4, 2, 1, 0)]
        columns = "id, rank, stability_days, review_day, due_day, lapses, last_rating, last_correct, last_points"
        assert database.connection.rows(f"SELECT {columns} FROM queue") == [
            ("a", 7, 5.0, FIRST_DAY + 4, FIRST_DAY + 10, 1, 3, 0, "[1]"),
            ("b", 8, *[None] * 7),
        ]
        assert database.problems() == []
