"""Rows are found in whatever is left of a file, and nothing is ever found that was not written."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, RowKind
from attncli.store.database import Database
from attncli.store.page_scan import FoundRows, scan, varint
from attncli.store.wal import committed_pages

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
PAGE = 4096


def row(number: int, subject: str = "卡片", payload: dict[str, object] | None = None) -> LogRow:
    at = AT + timedelta(minutes=number)
    content = payload if payload is not None else {"rating": 3}
    return LogRow(f"{number:012x}-there-{number:08x}", "there", RowKind.REVIEW, subject, at, AT.toordinal(), content)


def file_with(path: Path, rows: list[LogRow]) -> bytes:
    with Database.open(path) as database, database.transaction():
        database.log.merge(rows)
    return path.read_bytes()


def test_all_rows_of_a_whole_file_are_found_under_their_numbers(tmp_path: Path) -> None:
    rows = [row(number) for number in range(1, 500)]
    found = scan(file_with(tmp_path / "p.db", rows))
    assert found.rows == {row.id: row for row in rows}
    assert found.numbers == {row.id: number for number, row in enumerate(rows, 1)}
    assert [row for _, row in found.in_order()] == rows and found.gaps(0) == 0


@pytest.mark.parametrize("length", [0, 100, 3900, 3990, 4000, 4061, 4090, 4500, 8000, 8150, 8200, 40_000])
def test_rows_that_go_on_over_further_pages_are_found(tmp_path: Path, length: int) -> None:
    rows = [row(number, payload={"rating": 3, "said": "x" * (length + number)}) for number in range(1, 9)]
    assert scan(file_with(tmp_path / "p.db", rows)).rows == {row.id: row for row in rows}


def test_rows_that_are_only_in_the_write_ahead_log_are_found(tmp_path: Path) -> None:
    path, rows = tmp_path / "p.db", [row(number) for number in range(1, 200)]
    with Database.open(path) as database:
        with database.transaction():
            database.log.merge(rows)
        content, log = path.read_bytes(), path.with_name("p.db-wal").read_bytes()
    assert scan(content).rows == {}
    assert scan(content, committed_pages(log).pages).rows == {row.id: row for row in rows}


def test_the_machine_is_found(tmp_path: Path) -> None:
    with Database.open(tmp_path / "p.db") as database:
        machine = database.log.machine
    assert scan((tmp_path / "p.db").read_bytes()).machine == machine


def test_rows_of_the_first_format_count_if_every_field_is_plausible(tmp_path: Path) -> None:
    path, good = tmp_path / "old.db", row(1)
    raw = sqlite3.connect(path)
    raw.execute(
        "CREATE TABLE log (seq INTEGER PRIMARY KEY, id TEXT, machine TEXT, kind TEXT, subject TEXT, at_us INTEGER,"
        " day INTEGER, payload TEXT)"
    )
    values = ("there", "review", "card", 1780315200000000, AT.toordinal())
    for number, (id, payload) in enumerate([("a", '{"rating": 3}'), ("b", '{"sating": 3}'), ("c", "{")], 1):
        raw.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (number, id * 30, *values, payload))
    raw.commit()
    raw.close()
    found = scan(path.read_bytes())
    assert list(found.rows) == ["a" * 30] and found.rows["a" * 30].payload == good.payload


def test_a_row_whose_number_is_lost_or_taken_comes_last() -> None:
    found = FoundRows()
    for number, id in ((0, 5), (2, 1), (2, 3), (1, 2)):
        found.add(number, row(id))
    assert [number for number, _ in found.in_order()] == [1, 2, None, None]
    assert found.gaps(4) == 2


payloads = st.dictionaries(
    st.sampled_from(["said", "说明", "elapsed_ms"]),
    st.one_of(st.integers(0, 10**6), st.text(max_size=60), st.just("长" * 2500)),
    max_size=3,
).map(lambda extra: {**extra, "rating": 3})
logs = st.lists(st.tuples(st.text("abcdefgh卡-", min_size=1, max_size=20), payloads), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(logs, st.integers(0, 2**32), st.integers(1, 40), st.sampled_from(["flip", "zero", "garbage", "cut"]))
def test_of_a_damaged_file_only_true_rows_are_found(
    tmp_path_factory: pytest.TempPathFactory, log: list[tuple[str, dict[str, object]]], seed: int, times: int, how: str
) -> None:
    rows = [row(number, subject, payload) for number, (subject, payload) in enumerate(log, 1)]
    content = bytearray(file_with(tmp_path_factory.mktemp("damaged") / "p.db", rows))
    rng = Random(seed)
    for _ in range(times):
        hurt(content, how, rng)
    found, true = scan(bytes(content)).rows, {row.id: row for row in rows}
    assert found == {id: true[id] for id in found if id in true}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 120), st.integers(0, 2**32))
def test_a_flipped_bit_costs_one_row_at_most(tmp_path_factory: pytest.TempPathFactory, count: int, seed: int) -> None:
    rows = [row(number) for number in range(1, count + 1)]
    content = bytearray(file_with(tmp_path_factory.mktemp("flipped") / "p.db", rows))
    hurt(content, "flip", Random(seed))
    assert len(scan(bytes(content)).rows) >= count - 1


def hurt(content: bytearray, how: str, rng: Random) -> None:
    at = rng.randrange(len(content)) if content else 0
    page = slice(at - at % PAGE, at - at % PAGE + PAGE)
    if how == "flip" and content:
        content[at] ^= 1 << rng.randrange(8)
    elif how == "cut":
        del content[max(at, len(content) // 2) :]
    elif content:
        content[page] = bytes(PAGE) if how == "zero" else rng.randbytes(len(content[page]))


@given(st.integers(0, 2**56 - 1))
def test_integers_of_variable_length_are_read(value: int) -> None:
    digits = [value & 0x7F]
    while value >> 7 * len(digits):
        digits.append(value >> 7 * len(digits) & 0x7F | 0x80)
    encoded = bytes(reversed(digits))
    assert varint(b"\xff" + encoded + b"\x00", 1) == (value, 1 + len(encoded))


def test_a_number_that_ends_beyond_the_data_is_none() -> None:
    assert varint(b"\x81\x82", 0) == (0, 3)
