"""The store killed at any step, with a flipped bit anywhere, out of space, replaced under those who have it open.

`ATTN_FAULTS=1000` tries a thousand places of each kind; without it a sample, the same on every run.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp

import pytest

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import StoreCorrupt, StoreError, StoreUnwritable
from attncli.store.backups import DAILY, keep_copy
from attncli.store.connection import Connection
from attncli.store.database import Database
from attncli.store.repair import repair_in_place
from attncli.store.rescue import rescue

AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
PLACES = int(os.environ.get("ATTN_FAULTS", "40"))
ROWS = 240
ID_BYTES = 40
LONGEST_SECONDS = 0.15
PAGE = 4096

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork, signals and limits of Unix")


def append(database: Database, count: int) -> list[LogRow]:
    rows = []
    for number in range(count):
        with database.transaction():
            at = AT + timedelta(minutes=number)
            rows.append(database.log.append(RowKind.REVIEW, f"card-{number % 9}", at, AT.toordinal(), {"rating": 3}))
    return rows


def recovered(path: Path, backups: Path) -> list[LogRow]:
    """All rows after what `attn doctor --rebuild` does; the database is whole then."""
    try:
        with Database.open(path) as database:
            repair_in_place(database, backups)
    except StoreCorrupt:
        rescue(path, backups)
    with Database.open(path) as database:
        assert database.problems() == [] and database.unmerged() == []
        return list(database.log.everything())


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """In memory where there is such a place: what a killed process leaves is the same, and no disk is waited for."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with TemporaryDirectory(dir=memory if usable else None) as name:
        yield Path(name)


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    return Path(mkdtemp(dir=folder))


@pytest.fixture(scope="module")
def whole(folder: Path) -> Path:
    path = folder / "whole" / "progress.db"
    with Database.open(path) as database:
        append(database, ROWS)
    return path


@pytest.fixture(scope="module")
def true_rows(whole: Path) -> list[LogRow]:
    with Database.open(whole) as database:
        return list(database.log.everything())


def pages_of(path: Path, *names: str) -> list[int]:
    connection = Connection(path)
    marks = ", ".join("?" * len(names))
    try:
        return [page for (page,) in connection.rows(f"SELECT pageno FROM dbstat WHERE name IN ({marks})", names)]
    finally:
        connection.close()


def copied(whole: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return Path(shutil.copy(whole, folder / "progress.db"))


def overwrite(path: Path, page: int) -> None:
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * 64)


PLACES_TO_FLIP = {"log": ("log",), "index": ("log_subject", "log_kind_day", "sqlite_autoindex_log_1"), "header": ()}


@pytest.mark.parametrize("part", PLACES_TO_FLIP)
def test_a_flipped_bit_costs_no_row_but_the_one_it_is_in(
    whole: Path, true_rows: list[LogRow], tmp_path: Path, part: str
) -> None:
    rng, true = Random(part), {row.id: row for row in true_rows}
    pages = pages_of(whole, *PLACES_TO_FLIP[part]) if part != "header" else [1]
    for _ in range(PLACES):
        path = copied(whole, tmp_path / "home")
        content = bytearray(path.read_bytes())
        offset = rng.randrange(100 if part == "header" else PAGE)
        content[(rng.choice(pages) - 1) * PAGE + offset] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        rows = recovered(path, tmp_path / "none")
        assert {row.id: true.get(row.id) for row in rows} == {row.id: row for row in rows}
        lost = ROWS - len(rows)
        with Database.open(path) as database:
            assert lost <= 1 and (
                lost == database.log.set_aside_count() or path.with_name("progress.db.damaged-1").exists()
            )
            assert append(database, 1)


@contextmanager
def killed_at(step: int) -> Iterator[Callable[[], int]]:
    """Kills this process at the `step`-th call of SQLite or of the file system; 0 never. Only in a forked child."""
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == step:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_event(event: str, _: object) -> None:
        if event in ("open", "os.link", "os.rename", "os.remove", "sqlite3.connect"):
            count()

    for name in ("execute", "execute_many", "rows", "row", "close", "backup_to"):
        original = getattr(Connection, name)

        def counted(self: Connection, *values: object, original: Callable[..., object] = original) -> object:
            count()
            return original(self, *values)

        setattr(Connection, name, counted)
    sys.addaudithook(on_event)
    yield lambda: seen


def in_child(work: Callable[[], bytes]) -> tuple[bytes, int]:
    """What `work` gives in a forked process, and how that ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, work())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    return said, os.waitpid(child, 0)[1]


def rescuing(path: Path) -> None:
    rescue(path, path.parent / "backups")


def repairing(path: Path) -> None:
    with Database.open(path) as database:
        repair_in_place(database, path.parent / "backups")


def copying(path: Path) -> None:
    with Database.open(path) as database:
        append(database, 1)
        keep_copy(database, path.parent / "backups", DAILY, AT)


DAMAGES: dict[Callable[[Path], None], tuple[str, ...]] = {
    rescuing: ("log_subject",),
    repairing: ("card",),
    copying: (),
}


@pytest.mark.parametrize("work", DAMAGES, ids=lambda work: work.__name__)
def test_killed_at_any_step_nothing_is_lost_and_the_next_command_works(
    whole: Path, true_rows: list[LogRow], tmp_path: Path, work: Callable[[Path], None]
) -> None:
    hurt = copied(whole, tmp_path / "hurt")
    for page in pages_of(whole, *DAMAGES[work])[:1] if DAMAGES[work] else []:
        overwrite(hurt, page)

    def steps() -> bytes:
        path = copied(hurt, tmp_path / "counted")
        with killed_at(0) as seen:
            work(path)
            return str(seen()).encode()

    last = int(in_child(steps)[0])
    rng, killed = Random(work.__name__), 0
    for step in range(1, last + 1) if last <= PLACES else sorted(rng.sample(range(1, last + 1), PLACES)):
        path = copied(hurt, tmp_path / "home")

        def until_killed(path: Path = path, step: int = step) -> bytes:
            with killed_at(step):
                work(path)
            return b"done"

        killed += os.WIFSIGNALED(in_child(until_killed)[1])
        rows = recovered(path, path.parent / "backups")
        assert {row.id for row in true_rows} <= {row.id for row in rows}
        assert not [file for file in path.parent.rglob("*") if ".rescuing" in file.name]
        assert all(
            Connection(copy).value("PRAGMA integrity_check") == "ok" for copy in path.parent.glob("backups/*.db")
        )
    assert killed > min(last, PLACES) * 0.9


def acknowledging(path: Path, say: Callable[[bytes], object]) -> None:
    with Database.open(path) as database:
        while True:
            for row in append(database, 1):
                say(row.id.encode().ljust(ID_BYTES))


def rescuing_and_acknowledging(path: Path, say: Callable[[bytes], object]) -> None:
    rescue(path, path.parent / "backups")
    acknowledging(path, say)


@pytest.mark.parametrize("work", [acknowledging, rescuing_and_acknowledging], ids=lambda work: work.__name__)
def test_killed_at_any_moment_what_was_acknowledged_is_there(
    whole: Path,
    true_rows: list[LogRow],
    tmp_path: Path,
    work: Callable[[Path, Callable[[bytes], object]], None],
) -> None:
    hurt, rng = copied(whole, tmp_path / "hurt"), Random(20261122)
    if work is rescuing_and_acknowledging:
        overwrite(hurt, pages_of(whole, "log_subject")[0])
    for _ in range(PLACES // 2):
        path = copied(hurt, tmp_path / "home")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            work(path, lambda said, writer=writer: os.write(writer, said))  # type: ignore[misc]
        os.close(writer)
        time.sleep(rng.uniform(0, LONGEST_SECONDS))
        os.kill(child, signal.SIGKILL)
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        acknowledged = {said[at : at + ID_BYTES].decode().strip() for at in range(0, len(said), ID_BYTES)}
        rows = recovered(path, path.parent / "backups")
        assert {row.id for row in true_rows} | acknowledged <= {row.id for row in rows}


@pytest.mark.parametrize("work", [rescuing, repairing], ids=lambda work: work.__name__)
def test_out_of_space_it_is_said_in_one_line_and_the_file_is_as_it_was(
    whole: Path, true_rows: list[LogRow], tmp_path: Path, work: Callable[[Path], None]
) -> None:
    hurt = copied(whole, tmp_path / "hurt")
    page = pages_of(whole, *DAMAGES[work])[0]
    overwrite(hurt, page)
    refused = 0
    for room in [round(number * hurt.stat().st_size * 1.2 / 20) for number in range(20)]:
        path = copied(hurt, tmp_path / "home")

        def limited(path: Path = path, room: int = room) -> bytes:
            import resource

            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            try:
                work(path)
            except StoreCorrupt as error:
                return f"damaged: {error.message}".encode()
            except StoreUnwritable as error:
                return f"refused: {error.message}".encode()
            return b"done"

        said, status = in_child(limited)
        assert not os.WIFSIGNALED(status) and said and b"\n" not in said
        refused += said.startswith(b"refused: ")
        if said.startswith(b"refused: "):
            assert b"free some disk space" in said and not list(path.parent.glob("*.damaged-*"))
        assert {row.id for row in recovered(path, path.parent / "backups")} >= {row.id for row in true_rows}
    assert refused > 5


@contextmanager
def open_elsewhere(path: Path) -> Iterator[Callable[[], str]]:
    """Another process that has the database open; calling it makes that one append a row: its id, or the refusal."""
    (asked, ask), (heard, say) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        database = Database.open(path)
        os.write(say, b"open".ljust(400))
        while os.read(asked, 1) == b"+":
            try:
                os.write(say, append(database, 1)[0].id.encode().ljust(400))
            except StoreError as error:
                os.write(say, f"refused: {error.message}".encode().ljust(400))
        database.close()
        os._exit(0)
    assert os.read(heard, 400).strip() == b"open"

    def further() -> str:
        os.write(ask, b"+")
        return os.read(heard, 400).decode().strip()

    yield further
    os.write(ask, b".")
    os.waitpid(child, 0)
    for end in (asked, ask, heard, say):
        os.close(end)


def test_a_rescue_waits_until_all_who_have_the_file_open_are_gone(whole: Path, tmp_path: Path) -> None:
    path = copied(whole, tmp_path / "home")
    overwrite(path, pages_of(whole, "log_kind_day")[0])
    acknowledged = []
    with open_elsewhere(path) as one, open_elsewhere(path) as other:
        with pytest.raises(StoreError, match=r"another attn has .* open; close it first"):
            rescue(path)
        acknowledged += [said for said in (one(), other(), one()) if not said.startswith("refused")]
    with open_elsewhere(path), pytest.raises(StoreError, match="close it first"):
        rescue(path)
    rescue(path)
    with Database.open(path) as database:
        assert {row.id for row in database.log.everything()} >= set(acknowledged)
        assert database.log.length() == ROWS + len(acknowledged) and database.problems() == []


def test_mending_in_place_leaves_those_who_have_the_file_open_where_they_are(whole: Path, tmp_path: Path) -> None:
    path = copied(whole, tmp_path / "home")
    overwrite(path, pages_of(whole, "card")[0])
    with open_elsewhere(path) as one, open_elsewhere(path) as other:
        before = [one(), other()]
        with Database.open(path) as database:
            assert database.problems()
            repair_in_place(database, tmp_path / "none")
            assert not database.problems()
        after = [one(), other()]
    with Database.open(path) as database:
        assert {*before, *after} <= {row.id for row in database.log.everything()}
        assert database.log.length() == ROWS + 4 and database.problems() == []


def test_nothing_is_acknowledged_into_a_file_that_was_replaced(whole: Path, tmp_path: Path) -> None:
    path = copied(whole, tmp_path / "home")
    with open_elsewhere(path) as one, open_elsewhere(path) as other:
        assert not one().startswith("refused")
        Path(shutil.copy(whole, tmp_path / "new.db")).replace(path)
        assert all("was replaced while attn was open; nothing was recorded" in said for said in (one(), other()))
        path.unlink()
        assert "was removed while attn was open; nothing was recorded; put it back" in one()
