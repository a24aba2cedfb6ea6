"""The database as a file: shape, refusal of what is not ours, damage, missing space, and several processes at once."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from attncli.domain.log_row import RowKind
from attncli.errors import StoreCorrupt, StoreError
from attncli.store import migrations
from attncli.store.connection import APPLICATION_ID, FORMAT, Connection, error_in_words
from attncli.store.database import Database
from attncli.store.rescue import rescue

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "progress.db"


def write_reviews(path: Path, count: int) -> list[str]:
    ids = []
    with Database.open(path) as database:
        for number in range(count):
            with database.transaction():
                ids.append(database.log.append(RowKind.REVIEW, f"card-{number}", AT, 1, {"rating": 3}).id)
    return ids


def damage(path: Path, at: int, length: int = 4096) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\x55" * length)


def test_a_new_database_has_the_newest_shape_and_is_whole(path: Path) -> None:
    with Database.open(path) as database:
        assert database.problems() == []
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA user_version").fetchone() == (FORMAT,)
    assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert len(migrations.STEPS) == FORMAT


def test_all_tables_are_strict(path: Path) -> None:
    Database.open(path).close()
    raw = sqlite3.connect(path)
    loose = [
        name
        for name, strict, kind in raw.execute("SELECT name, strict, type FROM pragma_table_list")
        if kind == "table" and not strict and not name.startswith("sqlite_")
    ]
    assert loose == []


def test_commits_wait_for_the_disk_and_references_are_enforced(path: Path) -> None:
    Database.open(path).close()
    connection = Connection(path)
    assert connection.value("PRAGMA synchronous") == 2
    assert connection.value("PRAGMA foreign_keys") == 1
    connection.close()


def test_opening_again_changes_nothing(path: Path) -> None:
    write_reviews(path, 3)
    with Database.open(path) as database:
        assert database.log.length() == 3
        machine = database.log.machine
    with Database.open(path) as database:
        assert database.log.machine == machine


def test_a_newer_database_is_refused_in_one_line(path: Path) -> None:
    Database.open(path).close()
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {FORMAT + 1}")
    raw.execute("UPDATE meta SET value = ? WHERE key = 'format'", (str(FORMAT + 1),))
    raw.commit()
    raw.close()
    with pytest.raises(StoreError, match=r"written by a newer attn .* install the newer version"):
        Database.open(path)


def test_another_program_s_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE theirs (x)")
    raw.close()
    with pytest.raises(StoreError, match="something else"):
        Database.open(path)


def test_a_step_that_fails_leaves_the_database_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_reviews(path, 1)
    broken = (*migrations.STEPS, "CREATE TABLE extra (x TEXT) STRICT;\nINSERT INTO nowhere VALUES (1);\n")
    monkeypatch.setattr(migrations, "STEPS", broken)
    monkeypatch.setattr(migrations, "NEWEST", FORMAT + 1)
    connection = Connection(path)
    with pytest.raises(StoreError):
        migrations.migrate(connection)
    assert connection.value("PRAGMA user_version") == FORMAT
    assert connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'") == 0
    connection.close()


def test_a_further_step_is_applied_once_and_recorded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_reviews(path, 2)
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, "CREATE TABLE extra (x TEXT) STRICT;\n"))
    monkeypatch.setattr(migrations, "NEWEST", FORMAT + 1)
    connection = Connection(path)
    migrations.migrate(connection)
    migrations.migrate(connection)
    assert connection.value("PRAGMA user_version") == FORMAT + 1
    assert connection.value("SELECT count(*) FROM log") == 2
    connection.close()


def test_triggers_are_one_statement() -> None:
    found = migrations.statements("CREATE TABLE a (x);\nCREATE TRIGGER t BEFORE UPDATE ON a\nBEGIN SELECT 1; END;\n")
    assert len(found) == 2


@pytest.mark.parametrize("statement", ["UPDATE log SET day = 2", "DELETE FROM log"])
def test_the_log_cannot_be_changed_even_by_sql(path: Path, statement: str) -> None:
    write_reviews(path, 1)
    raw = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw.execute(statement)


def test_garbage_is_called_damaged_and_the_remedy_is_named(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database " * 500)
    with pytest.raises(StoreCorrupt, match=r"attn doctor --rebuild.*attn restore"):
        Database.open(path)


def test_a_truncated_file_is_called_damaged(path: Path) -> None:
    write_reviews(path, 50)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with pytest.raises(StoreCorrupt), Database.open(path) as database:
        assert database.problems() == []
        list(database.log.everything())


def test_rescue_saves_what_can_be_read_and_keeps_the_damaged_file(path: Path) -> None:
    ids = write_reviews(path, 400)
    damage(path, at=path.stat().st_size - 3 * 4096)
    found = rescue(path)
    assert found.kept.exists() and found.kept.parent == path.parent
    with Database.open(path) as database:
        saved = [row.id for row in database.log.everything()]
        assert database.problems() == []
    assert 100 < len(saved) == found.rows and set(saved) <= set(ids)


def test_rescue_of_garbage_saves_nothing_and_leaves_a_usable_database(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\x00" * 10_000)
    path.write_bytes(b"garbage")
    assert rescue(path).rows == 0
    assert write_reviews(path, 1)
    assert rescue(path).rows == 1


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot create .*--home"):
        Database.open(tmp_path / "file" / "progress.db")


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("database or disk is full", "free some disk space and try again"),
        ("disk I/O error", "free some disk space and try again"),
        ("attempt to write a readonly database", "make its folder writable"),
        ("unable to open database file", "make its folder writable"),
        ("database is locked", "another attn is writing"),
        ("something unheard of", "attn doctor"),
    ],
)
def test_every_sqlite_error_has_a_remedy(said: str, remedy: str) -> None:
    message = error_in_words(sqlite3.OperationalError(said), Path("p.db")).message
    assert remedy in message and said in message and "\n" not in message


FULL = """
import resource, sys
from pathlib import Path
from datetime import UTC, datetime
from attncli.domain.log_row import RowKind
from attncli.errors import StoreError
from attncli.store.database import Database
path = Path(sys.argv[1])
database = Database.open(path)
size = max(file.stat().st_size for file in path.parent.iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 60_000, size + 60_000))
try:
    for number in range(100_000):
        with database.transaction():
            database.log.append(RowKind.REVIEW, "card", datetime.now(UTC), 1, {"rating": 3, "pad": "x" * 500})
        print(number, flush=True)
except StoreError as error:
    print(error.message, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_full_disk_is_said_and_everything_reported_is_kept(path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 3, run.stderr
    assert "free some disk space and try again" in run.stderr and len(run.stderr.splitlines()) == 1
    with Database.open(path) as database:
        assert database.problems() == []
        assert database.log.length() == len(run.stdout.splitlines()) > 0


WRITER = """
import sys
from pathlib import Path
from datetime import UTC, datetime
from attncli.domain.log_row import RowKind
from attncli.store.database import Database
with Database.open(Path(sys.argv[1])) as database:
    for number in range(40):
        with database.transaction():
            row = database.log.append(RowKind.REVIEW, "card", datetime.now(UTC), 1, {"rating": 3})
        print(row.id, flush=True)
"""


def test_two_processes_write_at_once_and_lose_nothing(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    printed = [line for writer in writers for line in writer.communicate(timeout=60)[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    with Database.open(path) as database:
        assert sorted(row.id for row in database.log.everything()) == sorted(printed)
        assert len(printed) == 120 and database.problems() == []


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_a_place_that_is_no_place_for_a_database_says_what_helps(tmp_path: Path) -> None:
    (tmp_path / "folder" / "progress.db").mkdir(parents=True)
    (tmp_path / "file").touch()
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "progress.db").symlink_to("progress.db")
    for place, remedy in {
        "folder/progress.db": "move that folder away",
        "link/progress.db": "name another folder with --home",
        "file/progress.db": "name another folder with --home",
        f"{'a' * 300}/progress.db": "name a shorter path",
        f"{'a' * 300}.db": "name a shorter path",
    }.items():
        with pytest.raises(StoreError, match=rf"\); {remedy}$"):
            Database.open(tmp_path / place)
