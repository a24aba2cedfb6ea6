"""A backup comes back as rows alone, in one step, and nothing that was there is lost."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attncli.domain.log_row import RowKind, is_machine
from attncli.errors import StoreError, UsageError
from attncli.store import foreign_database, migrations, restore_backup
from attncli.store.database import Database
from attncli.store.foreign_database import WORKSHOP
from attncli.store.log import checksum
from attncli.store.restore_backup import Restored, restore_database

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
NOW = datetime(2026, 6, 2, 12, tzinfo=UTC)
DAY = AT.toordinal()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "progress.db"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "backup.db"


def write_reviews(path: Path, count: int) -> list[str]:
    ids = []
    with Database.open(path) as database:
        for number in range(count):
            with database.transaction():
                ids.append(database.log.append(RowKind.REVIEW, f"card-{number}", AT, DAY, {"rating": 3}).id)
    return ids


def copy_of(path: Path, backup: Path) -> Path:
    backup.parent.mkdir(exist_ok=True)
    with Database.open(path) as database:
        database.copy_to(backup)
    return backup


def ids_in(path: Path) -> list[str]:
    with Database.open(path) as database:
        assert database.problems() == []
        return [row.id for row in database.log.everything()]


def bring_back(path: Path, backup: Path) -> Restored:
    return restore_database(path, backup, path.parent / "backups", NOW)


def changed(backup: Path, *statements: str, sign: bool = False) -> None:
    """Changes a backup by SQL, past the triggers that keep its log."""
    with closing(sqlite3.connect(backup)) as raw:
        for trigger in ("log_is_never_changed", "log_is_never_shortened"):
            raw.execute(f"DROP TRIGGER IF EXISTS {trigger}")
        for statement in statements:
            raw.execute(statement)
        if sign:
            raw.create_function("sum_of", 7, checksum)
            text = ", ".join(f"CAST({name} AS BLOB)" for name in ("id", "machine", "kind", "subject"))
            raw.execute(f"UPDATE log SET checksum = sum_of({text}, at_us, day, CAST(payload AS BLOB))")
        raw.commit()


def names_beside(path: Path) -> set[str]:
    return {file.name for file in path.parent.iterdir()} - {
        "backups",
        path.name,
        f"{path.name}-wal",
        f"{path.name}-shm",
    }


def test_a_backup_is_whole_and_comes_back(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 5)
    before = copy_of(path, backup).read_bytes()
    newer = write_reviews(path, 3)
    done = bring_back(path, backup)
    assert ids_in(path) == ids and (done.rows, done.missing, done.refused) == (5, 3, ())
    assert done.kept is not None and ids_in(done.kept) == [*ids, *newer]
    assert backup.read_bytes() == before and names_beside(path) == set()


def test_nothing_is_kept_of_nothing(path: Path, backup: Path, tmp_path: Path) -> None:
    ids = write_reviews(tmp_path / "other" / "progress.db", 2)
    copy_of(tmp_path / "other" / "progress.db", backup)
    assert bring_back(path, backup) == Restored(2, ())
    assert ids_in(path) == ids


def test_what_is_restored_is_another_machine(path: Path, backup: Path) -> None:
    write_reviews(path, 1)
    with Database.open(path) as database:
        before = database.log.machine
    bring_back(path, copy_of(path, backup))
    with Database.open(path) as database:
        assert is_machine(database.log.machine) and database.log.machine != before


def test_a_backup_can_replace_a_damaged_database(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 5)
    copy_of(path, backup)
    path.write_bytes(b"garbage")
    done = bring_back(path, backup)
    assert done.kept is not None and done.kept.read_bytes() == b"garbage" and done.missing is None
    assert ids_in(path) == ids


def test_a_database_that_is_damaged_inside_is_kept_byte_by_byte(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 400)
    copy_of(path, backup)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 3 * 4096)
        file.write(b"\x55" * 4096)
    damaged = path.read_bytes()
    done = bring_back(path, backup)
    assert done.kept is not None and done.kept.read_bytes() == damaged and done.missing is None
    assert ids_in(path) == ids


def test_only_rows_come_over_and_neither_triggers_nor_views_nor_settings(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 2)
    changed(
        copy_of(path, backup),
        "UPDATE meta SET value = '../../../../tmp/pwned' WHERE key = 'machine'",
        "INSERT INTO meta VALUES ('scheduling', 'theirs')",
        "CREATE TRIGGER evil AFTER INSERT ON challenge BEGIN UPDATE challenge SET document = '{}'; END",
        "CREATE TRIGGER worse AFTER INSERT ON log BEGIN DELETE FROM schedule; END",
        "CREATE VIEW spy AS SELECT * FROM log",
        "CREATE TABLE theirs (x)",
    )
    done = bring_back(path, backup)
    assert done.rows == 2 and ids_in(path) == ids
    with Database.open(path) as database:
        assert is_machine(database.log.machine) and database.scheduling == ""
    with closing(sqlite3.connect(path)) as raw, closing(sqlite3.connect(":memory:")) as clean:
        clean.create_function("row_checksum", 7, migrations.checksum_if_readable)
        for step in migrations.STEPS:
            for statement in migrations.statements(step):
                clean.execute(statement)
        schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
        assert raw.execute(schema).fetchall() == clean.execute(schema).fetchall()


@pytest.mark.parametrize(
    "log",
    [
        "CREATE VIEW log AS SELECT id, machine, kind, subject, at_us, day, hex(zeroblob(1e8)) AS payload FROM old",
        "CREATE TABLE log (seq, id, machine, kind, subject, at_us, day, payload AS (hex(zeroblob(100000000))))",
        "CREATE VIRTUAL TABLE log USING fts5(id, machine, kind, subject, at_us, day, payload)",
        "CREATE TABLE log (seq INTEGER PRIMARY KEY, id TEXT)",
        "CREATE TABLE logs (x)",
    ],
)
def test_a_log_that_is_no_plain_table_is_refused(path: Path, backup: Path, log: str) -> None:
    ids = write_reviews(path, 2)
    changed(copy_of(path, backup), "ALTER TABLE log RENAME TO old", log)
    with pytest.raises(UsageError, match=r"has no log of reviews.*nothing was restored"):
        bring_back(path, backup)
    assert ids_in(path) == ids


def test_rows_that_no_import_would_take_are_named_and_the_others_restored(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 6)
    changed(
        copy_of(path, backup),
        f"UPDATE log SET payload = '{{\"sating\": 3}}' WHERE id = '{ids[1]}'",
        f"UPDATE log SET kind = 'unheard-of' WHERE id = '{ids[2]}'",
        f"UPDATE log SET at_us = 9223372036854775807 WHERE id = '{ids[3]}'",
        f"UPDATE log SET payload = '[' || replace(hex(zeroblob(5000)), '00', '1,') || '1]' WHERE id = '{ids[4]}'",
        sign=True,
    )
    done = bring_back(path, backup)
    assert ids_in(path) == [ids[0], ids[5]] and done.rows == 2 and done.missing == 4
    assert len(done.refused) == 4 and done.refused[0] == f"row {ids[1]}: payload.rating is missing"


def test_a_row_whose_checksum_does_not_fit_is_left_out(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 2)
    changed(copy_of(path, backup), f"UPDATE log SET day = day + 1 WHERE id = '{ids[0]}'")
    assert bring_back(path, backup).refused == (f"row {ids[0]}: it is damaged, its checksum does not fit",)
    assert ids_in(path) == ids[1:]


def test_a_backup_of_the_first_format_is_restored(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 2)
    changed(
        copy_of(path, backup),
        "CREATE TABLE old AS SELECT seq, id, machine, kind, subject, at_us, day, payload FROM log",
        "DROP TABLE log",
        "ALTER TABLE old RENAME TO log",
        "PRAGMA user_version = 1",
    )
    done = bring_back(path, backup)
    assert (done.rows, done.refused, done.missing) == (2, (), 0) and ids_in(path) == ids


def test_a_row_that_is_there_twice_is_restored_once_and_named(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 1)
    changed(
        copy_of(path, backup),
        "CREATE TABLE copy AS SELECT * FROM log",
        "INSERT INTO copy SELECT 2, id, machine, kind, subject, at_us, day, '{\"rating\": 1}', 0 FROM log",
        "ALTER TABLE log RENAME TO old",
        "ALTER TABLE copy RENAME TO log",
        sign=True,
    )
    assert bring_back(path, backup).refused == (f"row {ids[0]}: it is there twice with different content",)
    assert ids_in(path) == ids


def test_what_is_no_backup_is_not_restored(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 2)
    backup.parent.mkdir()
    for content in (b"", b"garbage", b"this is no database " * 500):
        backup.write_bytes(content)
        with pytest.raises(UsageError, match="nothing was restored"):
            bring_back(path, backup)
    backup.unlink()
    with closing(sqlite3.connect(backup)) as raw:
        raw.execute("CREATE TABLE theirs (x)")
    with pytest.raises(UsageError, match=r"no database of attn.*nothing was restored"):
        bring_back(path, backup)
    with pytest.raises(UsageError, match=r"cannot read .*nothing was restored"):
        bring_back(path, backup.parent)
    assert ids_in(path) == ids and names_beside(path) == set()
    assert not (path.parent / "backups").exists()


def test_a_newer_format_is_called_newer(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 1)
    changed(copy_of(path, backup), "PRAGMA user_version = 99")
    with pytest.raises(UsageError, match=r"written by a newer attn \(format 99"):
        bring_back(path, backup)
    assert ids_in(path) == ids


def test_a_truncated_backup_is_refused_whole(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 300)
    with copy_of(path, backup).open("r+b") as file:
        file.truncate(backup.stat().st_size // 2)
    with pytest.raises(UsageError, match=r"damaged.*nothing was restored"):
        bring_back(path, backup)
    assert ids_in(path) == ids


CRASH = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from attncli.domain.log_row import RowKind
from attncli.store.database import Database
database = Database.open(Path(sys.argv[1]))
for number in range(10):
    with database.transaction():
        database.log.append(RowKind.REVIEW, f"card-{number}", datetime(2026, 6, 1, tzinfo=UTC), 739768, {"rating": 3})
print("written", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_what_a_crashed_machine_had_in_its_write_ahead_log_is_restored(path: Path, tmp_path: Path) -> None:
    old = tmp_path / "old" / "progress.db"
    subprocess.run([sys.executable, "-c", CRASH, str(old)], stdout=subprocess.PIPE, check=False)
    before = {file.name: file.read_bytes() for file in old.parent.iterdir()}
    assert "progress.db-wal" in before
    assert bring_back(path, old).rows == 10
    assert {file.name: file.read_bytes() for file in old.parent.iterdir()} == before


def test_the_live_file_under_an_open_program_is_read_whole(path: Path, tmp_path: Path) -> None:
    with Database.open(path) as database:
        for number in range(6):
            with database.transaction():
                database.log.append(RowKind.REVIEW, f"card-{number}", AT, DAY, {"rating": 3})
        assert bring_back(tmp_path / "new" / "progress.db", path).rows == 6
        assert bring_back(path, path).rows == 6
        assert database.log.length() == 6, "the open program goes on with the same file"


def test_an_open_program_sees_the_backup_and_goes_on(path: Path, backup: Path) -> None:
    write_reviews(path, 2)
    copy_of(path, backup)
    with Database.open(path) as database:
        with database.transaction():
            database.log.append(RowKind.REVIEW, "later", AT, DAY, {"rating": 3})
        assert bring_back(path, backup).missing == 1
        with database.transaction():
            database.log.append(RowKind.REVIEW, "after", AT, DAY, {"rating": 3})
        assert database.log.length() == 3
    assert len(ids_in(path)) == 3


def test_a_review_given_while_the_backup_is_read_is_in_the_copy(
    path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_reviews(path, 2)
    copy_of(path, backup)
    fill = restore_backup._fill

    def slowly(*arguments: object) -> object:
        write_reviews(path, 1)
        return fill(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(restore_backup, "_fill", slowly)
    done = bring_back(path, backup)
    assert done.missing == 1 and done.kept is not None and len(ids_in(done.kept)) == 3


def test_a_file_that_is_half_written_is_refused(path: Path, backup: Path) -> None:
    write_reviews(path, 1)
    copy_of(path, backup).with_name("backup.db-journal").write_bytes(b"unfinished")
    with pytest.raises(UsageError, match="copied while it was being written"):
        bring_back(path, backup)


def test_a_file_that_changes_all_the_time_is_refused(path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_reviews(path, 1)
    copy_of(path, backup)
    copy = foreign_database._copy

    def while_it_grows(file: Path, *arguments: object, **named: object) -> None:
        copy(file, *arguments, **named)  # type: ignore[arg-type]
        if file == backup:
            with file.open("ab") as growing:
                growing.write(b"\x00")

    monkeypatch.setattr(foreign_database, "_copy", while_it_grows)
    with pytest.raises(UsageError, match="changes all the time"):
        bring_back(path, backup)


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from attncli.store import connection, restore_backup

step, count = sys.argv[4], 0
def die(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)
if step == "locked":
    restore_backup.keep_copy = die
elif step == "built":
    restore_backup._replace = die
elif step == "read":
    restore_backup._fill = die
else:
    class Watch(connection._Watch):
        def __call__(self, status, remaining, total):
            super().__call__(status, remaining, total)
            if remaining == int(step):
                die()
    connection._Watch = Watch
path, backup, copies = map(Path, sys.argv[1:4])
restore_backup.restore_database(path, backup, copies, datetime(2026, 6, 2, tzinfo=UTC))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("step", ["read", "built", "locked", "20", "1"])
def test_a_killed_restore_changes_nothing_and_leaves_nothing_to_the_next(path: Path, backup: Path, step: str) -> None:
    ids = write_reviews(path, 100)
    copy_of(path, backup)
    newer = write_reviews(path, 10)
    words = [str(path), str(backup), str(path.parent / "backups"), step]
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert ids_in(path) == [*ids, *newer]
    assert any(name.startswith(WORKSHOP) for name in names_beside(path))
    assert bring_back(path, backup).rows == 100
    assert ids_in(path) == ids and names_beside(path) == set()


def test_what_an_earlier_version_left_behind_does_no_harm(path: Path, backup: Path) -> None:
    ids = write_reviews(path, 3)
    copy_of(path, backup)
    for suffix in ("", "-journal", "-wal"):
        path.with_name(f"progress.db.restoring{suffix}").write_bytes(b"a hot journal of something else")
    bring_back(path, backup)
    assert ids_in(path) == ids and names_beside(path) == set()


def test_the_room_of_a_program_that_still_runs_is_left_alone(path: Path, backup: Path) -> None:
    write_reviews(path, 1)
    copy_of(path, backup)
    mine, old = path.parent / f"{WORKSHOP}{os.getpid()}-x", path.parent / f"{WORKSHOP}{os.getpid()}-y"
    mine.mkdir()
    old.mkdir()
    os.utime(old, (1_000_000, 1_000_000))
    bring_back(path, backup)
    assert mine.exists() and not old.exists()


def test_a_home_that_cannot_be_written_is_not_the_backup_s_fault(tmp_path: Path, backup: Path) -> None:
    write_reviews(tmp_path / "home" / "progress.db", 1)
    copy_of(tmp_path / "home" / "progress.db", backup)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot create"):
        bring_back(tmp_path / "file" / "progress.db", backup)


def test_no_room_for_the_copy_is_not_the_backup_s_fault(
    path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = write_reviews(path, 1)
    copy_of(path, backup)

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(StoreError, match=r"No space left on device.*free some disk space") as refusal:
        bring_back(path, backup)
    assert refusal.value.exit_code == 3 and ids_in(path) == ids and names_beside(path) == set()


def test_no_room_for_what_was_there_leaves_it_there(path: Path, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = write_reviews(path, 2)
    copy_of(path, backup)
    newer = write_reviews(path, 1)

    def full(*arguments: object) -> None:
        raise StoreError("no copy was kept; free some disk space")

    monkeypatch.setattr(restore_backup, "keep_copy", full)
    with pytest.raises(StoreError, match="no copy was kept"):
        bring_back(path, backup)
    assert ids_in(path) == [*ids, *newer]
