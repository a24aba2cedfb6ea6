"""A row that is not what was written is named, left out and set aside; everything else goes on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreCorrupt
from attncli.store import migrations
from attncli.store.backups import DAILY, keep_copy
from attncli.store.connection import APPLICATION_ID, FORMAT, Connection
from attncli.store.database import Database
from attncli.store.log import RowDamaged, checksum, row_of
from attncli.store.repair import repair_in_place

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = AT.toordinal()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.db"


def append(path: Path, count: int) -> list[LogRow]:
    with Database.open(path) as database, database.transaction():
        return [
            database.log.append(
                RowKind.REVIEW, f"card-{number % 5}", AT + timedelta(minutes=number), DAY, {"rating": 3}
            )
            for number in range(count)
        ]


def tamper(path: Path, sql: str) -> None:
    """Changes the log behind the program's back, without a trace in the schema."""
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA ignore_check_constraints = ON")
    triggers = raw.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        raw.execute(f"DROP TRIGGER {name}")
    raw.execute(sql)
    for _, text in triggers:
        raw.execute(text)
    raw.commit()
    raw.close()


CHANGES = [
    """UPDATE log SET payload = '{"sating": 3}' WHERE seq = 4""",
    "UPDATE log SET payload = 'no json' WHERE seq = 4",
    "UPDATE log SET payload = CAST(x'7bff7d' AS TEXT) WHERE seq = 4",
    "UPDATE log SET kind = 'renew' WHERE seq = 4",
    "UPDATE log SET kind = CAST(x'ff' AS TEXT) WHERE seq = 4",
    "UPDATE log SET subject = 'card-1' WHERE seq = 4",
    "UPDATE log SET at_us = at_us + 1 WHERE seq = 4",
    "UPDATE log SET at_us = 9223372036854775807 WHERE seq = 4",
    "UPDATE log SET day = 1 WHERE seq = 4",
    "UPDATE log SET id = 'x' WHERE seq = 4",
    "UPDATE log SET machine = 'other' WHERE seq = 4",
    "UPDATE log SET checksum = 0 WHERE seq = 4",
]


@pytest.mark.parametrize("change", CHANGES)
def test_one_changed_row_is_named_and_all_others_are_read(path: Path, tmp_path: Path, change: str) -> None:
    rows = append(path, 20)
    others = [row for row in rows if row is not rows[3]]
    tamper(path, change)
    reads: list[Callable[[Database], object]] = [
        lambda database: list(database.log.everything()) == others,
        lambda database: database.log.of_kind(RowKind.REVIEW) == others or "renew" in change or "'ff'" in change,
        lambda database: sum(len(group) for _, group in database.log.by_subject()) == 19,
        lambda database: rows[3] not in database.log.of_subjects([f"card-{n}" for n in range(5)]),
        lambda database: sum(day.reviews for day in database.log.review_days.all()) >= 19,
        lambda database: database.log.last_here([RowKind.REVIEW]) == rows[-1],
    ]
    with Database.open(path) as database:
        for read in reads:
            assert read(database)
        assert "row 4 of the log is damaged" in " ".join(database.problems())
        assert database.remarks == ["left out 1 damaged row of the log; `attn doctor` names it"]
        assert repair_in_place(database, tmp_path / "none").set_aside == 1
        assert database.problems() == [] and database.log.set_aside_count() == 1
        assert list(database.log.everything()) == others


def test_a_damaged_row_comes_back_from_a_daily_copy(path: Path, tmp_path: Path) -> None:
    rows = append(path, 20)
    with Database.open(path) as database:
        keep_copy(database, tmp_path / "backups", DAILY, AT)
    tamper(path, CHANGES[0])
    with Database.open(path) as database:
        done = repair_in_place(database, tmp_path / "backups")
        assert (done.set_aside, done.put_back) == (1, 1)
        assert list(database.log.everything()) == rows and database.log.last_here([RowKind.REVIEW]) == rows[-1]


def test_a_damaged_row_comes_back_from_another_machine(path: Path) -> None:
    rows = append(path, 20)
    tamper(path, CHANGES[0])
    with Database.open(path) as database, database.transaction():
        assert database.log.merge(rows) == [rows[3]]
    with Database.open(path) as database:
        assert sorted(database.log.everything(), key=lambda row: row.id) == rows
        assert database.log.set_aside_count() == 1 and database.problems() == []


def test_only_a_row_that_was_set_aside_can_be_removed(path: Path) -> None:
    append(path, 3)
    raw = sqlite3.connect(path)
    raw.execute("INSERT INTO set_aside (seq, id, payload) VALUES (1, 'another', '{}')")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute("DELETE FROM log WHERE seq = 1")
    raw.close()


@pytest.mark.parametrize(
    "gone",
    [
        *("DROP TABLE schedule", "DROP TABLE hold", "DROP TABLE queue", "DROP TABLE card_text", "DROP TABLE former"),
        *("DROP INDEX log_subject", "DROP INDEX log_undone", "DROP INDEX queue_due"),
        *("DROP TRIGGER log_is_never_changed", "DROP TRIGGER log_is_never_shortened", "DROP TABLE bank_file"),
    ],
)
def test_what_is_missing_is_named_and_made_anew(path: Path, tmp_path: Path, gone: str) -> None:
    rows = append(path, 20)
    raw = sqlite3.connect(path)
    raw.execute(gone)
    raw.commit()
    raw.close()
    with Database.open(path) as database:
        assert any(gone.split()[-1] in problem and "is missing" in problem for problem in database.problems())
        repair_in_place(database, tmp_path / "none")
        assert database.problems() == [] and list(database.log.everything()) == rows


def test_questions_about_the_last_rows_leave_out_what_is_damaged(path: Path) -> None:
    reviews, fits = frozenset({RowKind.REVIEW}), []
    with Database.open(path) as database, database.transaction():
        log = database.log
        rows = [log.append(RowKind.REVIEW, "card", AT + timedelta(days=n), DAY + n, {"rating": 3}) for n in range(4)]
        log.append(RowKind.REVIEW, "card", AT + timedelta(days=9), DAY + 9, {"rating": 0})
        fits = [log.append(RowKind.FIT, "", AT + timedelta(days=n), DAY + n, {"parameters": []}) for n in range(2)]
    tamper(path, f"UPDATE log SET machine = machine || 'x' WHERE id = '{fits[1].id}'")
    tamper(path, f"UPDATE log SET day = day + 1 WHERE id = '{rows[3].id}'")
    with Database.open(path) as database:
        log = database.log
        assert log.last_here(reviews) == rows[2]
        assert log.last_id(RowKind.REVIEW, ["card"]) == rows[2].id and log.fits()[-1].id == fits[0].id
        assert log.last_moment(["card"], reviews, AT + timedelta(days=5)) == rows[2].at
        assert log.last_moment(["card"], reviews, AT - timedelta(days=5)) is None
        assert rows[3].id not in log.ids_after(["card"], reviews, AT)
        assert log.subjects_after(RowKind.FIT, AT) == [] and log.subjects_after(RowKind.REVIEW, AT) == ["card"]
        assert sorted(log.damaged) == [4, 7]


def in_first_format(path: Path, payloads: list[str]) -> None:
    raw = sqlite3.connect(path)
    for statement in migrations.statements(migrations.STEPS[0]):
        raw.execute(statement)
    for number, payload in enumerate(payloads, 1):
        values = (number, f"id-{number}", "here", "review", "card", 1780315200000000 + number, DAY, payload)
        raw.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    raw.execute("PRAGMA user_version = 1")
    raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    raw.commit()
    raw.close()


def test_a_database_of_the_first_format_gets_checksums_after_a_copy_was_kept(path: Path) -> None:
    in_first_format(path, ['{"rating": 3}', '{"sating": 3}', '{"rating": 4}'])
    formats = []

    def look(database: Database) -> None:
        raw = sqlite3.connect(database.path)
        formats.append(raw.execute("PRAGMA user_version").fetchone()[0])
        raw.close()

    with Database.open(path, look) as database:
        assert [row.id for row in database.log.everything()] == ["id-1", "id-3"]
        assert database.problems() == ["row 2 of the log is damaged (id id-2, about card)"]
    Database.open(path, look).close()
    assert formats == [1]


def test_a_migration_by_another_process_meanwhile_is_no_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_first_format(path, [])
    connection = Connection(path)
    connection.use_write_ahead_log()
    version_of = migrations._version

    def migrated_in_between(connection: Connection) -> int:
        version = version_of(connection)
        monkeypatch.undo()
        Database.open(path).close()
        return version

    monkeypatch.setattr(migrations, "_version", migrated_in_between)
    migrations.refuse_strangers(connection)
    migrations.migrate(connection)
    connection.close()
    with Database.open(path) as database:
        assert database.problems() == []


def test_the_released_steps_are_never_changed() -> None:
    from hashlib import sha256

    digests = [sha256(step.encode()).hexdigest()[:16] for step in migrations.STEPS]
    assert len(digests) == FORMAT
    assert digests == ["b6740bd1c511496b", "27a4e77a74a7a1f8", "2613f748ca4a25d5", "207b885357a24c48"]


@pytest.mark.parametrize("format", [0, 1, FORMAT + 1, 66, -1, 2**24 + 2])
def test_a_header_that_contradicts_the_content_is_called_damaged(path: Path, format: int) -> None:
    append(path, 3)
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {format}")
    raw.close()
    with pytest.raises(StoreCorrupt, match=f"its header says format {format}, its content {FORMAT}"):
        Database.open(path)


def test_a_stranger_is_left_as_it_is(path: Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE theirs (x)")
    raw.execute(f"PRAGMA user_version = {FORMAT}")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(Exception, match="an SQLite database of something else"):
        Database.open(path)
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == ["progress.db"]


def test_an_empty_file_becomes_a_new_database_with_a_word(path: Path) -> None:
    path.touch()
    os.utime(path, (0, 1_000_000_000))
    with Database.open(path) as database:
        (remark,) = database.remarks
    assert "was empty, so a new one was begun" in remark
    path.unlink()
    with Database.open(path) as database:
        assert database.remarks == []
        keep_copy(database, path.parent / "backups", DAILY, AT)
    path.unlink()
    with Database.open(path) as database:
        assert "was gone, so a new one was begun; `attn restore" in database.remarks[0]


def test_a_database_that_another_first_start_is_beginning_is_no_matter_to_speak_of(path: Path) -> None:
    path.touch()
    os.utime(path, (0, 10_000_000_000))
    with Database.open(path) as database:
        assert database.remarks == []


def test_only_the_program_that_begins_a_lost_database_anew_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database.open(path) as database:
        keep_copy(database, path.parent / "backups", DAILY, AT)
    path.unlink()
    migrate, others = migrations.migrate, list[Database]()

    def slower_than_another(connection: Connection) -> bool:
        monkeypatch.setattr(migrations, "migrate", migrate)
        others.append(Database.open(path))
        return migrate(connection)

    monkeypatch.setattr(migrations, "migrate", slower_than_another)
    with Database.open(path) as database:
        assert database.remarks == []
    (other,) = others
    assert "was" in other.remarks[0] and "so a new one was begun" in other.remarks[0]
    other.close()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_single_change_of_a_row_keeps_its_checksum(data: st.DataObject) -> None:
    written = [b"id", b"here", b"review", "卡".encode(), b'{"rating": 3}']
    check = checksum(*_fields(written))
    which = data.draw(st.integers(0, 4))
    bit = data.draw(st.integers(0, len(written[which]) * 8 - 1))
    changed = bytearray(written[which])
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(RowDamaged):
        row_of((1, *_fields([*written[:which], bytes(changed), *written[which + 1 :]]), check))


def _fields(texts: list[bytes]) -> tuple[bytes, bytes, bytes, bytes, int, int, bytes]:
    id, machine, kind, subject, payload = texts
    return id, machine, kind, subject, 1780315200000000, DAY, payload


def test_a_damaged_index_of_the_log_is_no_matter_of_mending_in_place(path: Path, tmp_path: Path) -> None:
    append(path, 50)
    connection = Connection(path)
    root = connection.value("SELECT rootpage FROM sqlite_schema WHERE name = 'log_subject'")
    connection.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 64)
    with Database.open(path) as database, pytest.raises(StoreCorrupt):
        repair_in_place(database, tmp_path / "none")
