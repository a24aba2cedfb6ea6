"""Preserve the learner's history through kill -9, damage of every kind, a lost cache, a full disk, a read-only home.

`ATTN_KILLS=2000` and `ATTN_EXAMPLES=2000` set the numbers of killed processes and damaged files for a full run.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli import paths
from attncli.__main__ import main
from attncli.config import Settings
from attncli.domain.log_row import LogRow, Rating, RowKind, line_of
from attncli.errors import Outdated
from attncli.practice import record, sync
from attncli.practice.doctor import database_health
from attncli.practice.review import ReviewSession
from attncli.practice.workspace import Workspace
from attncli.sandbox import zygote_client
from attncli.store.history import History, encoded

KILLS = int(os.environ.get("ATTN_KILLS", "20"))
EXAMPLES = int(os.environ.get("ATTN_EXAMPLES", "30"))
CARDS = ("att-01", "att-02", "att-03", "kv-01", "kv-02", "kv-03")
START = datetime(2026, 6, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork, kill -9 and mounts")
Open = Callable[[Path], Workspace]
LONGEST_LIFE_SECONDS = 0.12
ROUNDS_AT_A_HOME = 10
PAGE_BYTES = 4096
BEGAN_AT = time.monotonic()
PIECES, SECONDS_A_PIECE = 4, 0.0004
"""A child writes in pieces, with a pause before each, so that many kills tear a line."""
Say = Callable[[list[str]], object]
MOST_ROOM_PAGES = 512
NEED_ROOM = {"sync", "import", "restore", "backup", "config", "start"}
"""Commands that write a file, which needs a page. A row may fit into the history's last page."""
CLONE_NEW_MOUNTS = 0x20000
may_mount = sys.platform == "linux" and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
needs_mounts = pytest.mark.skipif(not may_mount, reason="needs the right to mount")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return a folder in memory if possible: a killed process leaves the same files, and no test waits for a disk."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with TemporaryDirectory(dir=memory if usable else None) as name:
        yield Path(name)


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    return Path(mkdtemp(dir=folder))


@pytest.fixture
def open_at(small_bank: Path, small_impl: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """`open_at(folder)` opens a workspace over the small bank under a fixed clock; commands see the same bank."""
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: small_bank)
    monkeypatch.setattr(paths, "bundled_impl", lambda: small_impl)
    nothing = {"available": False, "layers": [], "missing": {}, "notes": []}
    monkeypatch.setattr(zygote_client, "describe", lambda gpu=False: nothing)
    return lambda home: Workspace.open(paths.Home(home), lambda: START + timedelta(days=9), settings=Settings())


class Result(NamedTuple):
    code: int
    out: str
    err: str


def attn(home: Path, *words: str | Path) -> Result:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["--home", str(home), *map(str, words)])
    return Result(code, out.getvalue(), err.getvalue())


def in_fork(work: Callable[[], Any]) -> Any:
    """Return the result of `work` in a forked process. Raises EOFError if it was killed."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(writer, pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(content)


def content(home: Path) -> dict[str, bytes]:
    """Return the bytes of every file of the history."""
    return {file.name: file.read_bytes() for file in History(home).files()}


def derived(workspace: Workspace) -> list[Any]:
    """Return all schedules and holds, bit for bit."""
    rows = workspace.store.connection.rows
    return rows("SELECT * FROM schedule ORDER BY subject") + rows("SELECT * FROM hold ORDER BY subject")


# Killed at any moment


def fast_clock() -> datetime:
    """Return a time that all processes share; a second is a day."""
    return START + timedelta(days=time.monotonic() - BEGAN_AT)


def foreign_rows(machine: str, first: int) -> list[LogRow]:
    """Return five reviews that another machine recorded."""
    at = fast_clock()
    return [
        LogRow(f"{n:012x}-{machine}-there", machine, RowKind.REVIEW, CARDS[n % 6], at, at.toordinal(), {"rating": 3})
        for n in range(first, first + 5)
    ]


def answering(workspace: Workspace, shared: Path, say: Say) -> None:
    for n in count():
        say([record.answer(workspace, CARDS[n % 6], Rating.GOOD).row])
        say([record.record(workspace, RowKind.NOTE, CARDS[n % 6], {"text": "注意力 " * n}).id])


def reviewing(workspace: Workspace, shared: Path, say: Say) -> None:
    """Answer the cards of the app's review; forgotten cards come again at once."""
    while True:
        session = ReviewSession(workspace)
        while session.next():
            with suppress(Outdated):  # the other process has answered this card
                say([session.rate(Rating.AGAIN).row])


def importing(workspace: Workspace, shared: Path, say: Say) -> None:
    machine = f"{os.getpid():08x}"
    for n in count(0, 5):
        file, rows = shared.parent / f"{machine}-{n}.jsonl", foreign_rows(machine, n)
        file.write_text("".join(line_of(row) + "\n" for row in rows), encoding="utf-8")
        sync.import_file(workspace, file)
        say([row.id for row in rows])


def syncing(workspace: Workspace, shared: Path, say: Say) -> None:
    """Sync with a folder in which the file of another machine grows."""
    machine, rows = f"{os.getpid():08x}", list[LogRow]()
    while True:
        rows += foreign_rows(machine, len(rows))
        lines = b"".join(encoded(n, row) for n, row in enumerate(rows, 1))
        paths.write_bytes(shared / f"{machine}.jsonl", lines)
        sync.sync(workspace, shared)
        say([row.id for row in rows[-5:]])


ACTS = (answering, reviewing, importing, syncing)


class Child:
    """A forked process that acts on a home until it is killed, and prints the id of each acknowledged row."""

    def __init__(self, home: Path, act: Callable[[Workspace, Path, Say], None]) -> None:
        self._reader, writer = os.pipe()
        self._id = os.fork()
        if self._id == 0:
            write, os.write = os.write, in_pieces(os.write)  # in this process alone
            try:
                workspace = Workspace.open(paths.Home(home), fast_clock, settings=Settings())
                act(workspace, home.parent / "shared", lambda ids: write(writer, "\n".join([*ids, ""]).encode()))
            except BaseException as error:
                write(writer, f"raised {error!r}\n".encode())
                raise
            finally:
                os._exit(1)
        os.close(writer)

    def kill(self) -> list[str]:
        """Return the ids; the last one may be cut."""
        os.kill(self._id, signal.SIGKILL)
        os.waitpid(self._id, 0)
        with os.fdopen(self._reader, "rb") as pipe:
            return [line.strip() for line in pipe.read().decode().splitlines(keepends=True) if line.endswith("\n")]


def in_pieces(write: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
    def write_piece(handle: int, content: Any) -> int:
        time.sleep(SECONDS_A_PIECE)
        return write(handle, content[: len(content) // PIECES + 1])

    return write_piece


@pytest.mark.slow
def test_two_writers_killed_at_any_moment_lose_no_acknowledged_row(open_at: Open, tmp_path: Path) -> None:
    seed = 20261127
    rng, total, torn = Random(seed), 0, 0
    for number in range(KILLS // 2):
        if number % ROUNDS_AT_A_HOME == 0:
            home = Path(mkdtemp(dir=tmp_path)) / "home"
            (home.parent / "shared").mkdir()
            acknowledged, aside = set[str](), 0
        acts = rng.choice(ACTS), rng.choice(ACTS)
        said = f"seed {seed}, round {number}: {acts[0].__name__} and {acts[1].__name__}"
        lives = sorted(rng.uniform(0, LONGEST_LIFE_SECONDS) for _ in acts)
        children, began_at, had = [Child(home, act) for act in acts], time.monotonic(), len(acknowledged)
        for child, life in zip(children, lives, strict=True):
            time.sleep(max(0, began_at + life - time.monotonic()))
            acknowledged.update(child.kill())
        total += len(acknowledged) - had
        assert not [line for line in acknowledged if line.startswith("raised")], (said, acknowledged)
        with Workspace.open(paths.Home(home), fast_clock, settings=Settings()) as workspace:
            acknowledged.add(record.answer(workspace, "att-01", Rating.GOOD).row)
            assert acknowledged <= workspace.store.log.ids(), said
            schedules = derived(workspace)
        before, aside = aside, len(list((home / "damaged").glob("*")))
        assert aside - before <= len(acts), said
        assert database_health(paths.Home(home)).damages == (), said
        doctor = attn(home, "doctor", "--json")
        assert (doctor.code, doctor.err) == (0, "") and json.loads(doctor.out)["database"]["integrity"] == "ok", said
        torn += aside - before
        if (number + 1) % ROUNDS_AT_A_HOME == 0:
            (home / "cache.db").unlink()
            with Workspace.open(paths.Home(home), fast_clock, settings=Settings()) as workspace:
                assert acknowledged <= workspace.store.log.ids() and derived(workspace) == schedules, said
            shutil.rmtree(home.parent)
    print(f"{KILLS} kills, {total} rows acknowledged, {torn} torn lines set aside")
    assert total


# Damaged files


class Pristine(NamedTuple):
    """A home with a history of one file, and a copy of it; `lines` has each row's line with its newline."""

    home: Path
    copy: Path
    file: Path
    rows: list[LogRow]
    lines: list[bytes]

    def restore(self, with_cache: bool) -> None:
        """Restore the home from its copy."""
        shutil.rmtree(self.home)
        shutil.copytree(self.copy, self.home)
        if not with_cache:
            (self.home / "cache.db").unlink()


@pytest.fixture
def pristine(tmp_path: Path, open_at: Open) -> Pristine:
    """Write 34 rows: reviews, notes in English and Chinese, undo."""
    home = tmp_path / "home"
    with open_at(home) as workspace:
        for n in range(10):
            at = START + timedelta(days=n % 7)
            record.answer(workspace, CARDS[n % 6], Rating(n % 4 + 1), at, {"elapsed_ms": 4000 + n})
            record.set_note(workspace, CARDS[n % 6], (f"note {n}", f"第 {n} 条笔记\n√d")[n % 2])
            if n % 3 == 0:
                record.take_back(workspace)
            record.answer(workspace, CARDS[n % 5], Rating.GOOD, at + timedelta(hours=1))
        rows = known(workspace)
    shutil.rmtree(home / "backups", ignore_errors=True)
    shutil.copytree(home, tmp_path / "copy")
    (file,) = History(home).files()
    lines = file.read_bytes().splitlines(keepends=True)
    return Pristine(home, tmp_path / "copy", file, [rows[json.loads(line)["id"]] for line in lines], lines)


class Harm(NamedTuple):
    """The damaged file, and the lines of which one must be reported.

    Damage `at_end` looks like an unfinished row: it is reported only while the cache has the missing rows.
    """

    content: bytes
    places: tuple[int, ...]
    at_end: bool


def harmed(data: st.DataObject, lines: list[bytes]) -> Harm:
    """Flip a byte, remove a line, or cut the tail."""
    whole = b"".join(lines)
    match data.draw(st.sampled_from(["flip", "remove", "cut"])):
        case "flip":
            at = data.draw(st.integers(0, len(whole) - 1))
            byte = data.draw(st.integers(1, 255)) ^ whole[at]
            line = whole[:at].count(b"\n") + 1
            return Harm(whole[:at] + bytes([byte]) + whole[at + 1 :], (line,), at == len(whole) - 1)
        case "remove":
            n = data.draw(st.integers(0, len(lines) - 1))
            return Harm(b"".join(lines[:n] + lines[n + 1 :]), (n, n + 1), n == len(lines) - 1)
        case _:
            at = data.draw(st.integers(0, len(whole) - 2))  # without the last newline, every row is there
            left = len(whole[:at].splitlines())
            return Harm(whole[:at], (left, left + 1), True)


def known(workspace: Workspace) -> dict[str, LogRow]:
    return {row.id: row for row in workspace.store.log.everything()}


def has_all(rows: dict[str, LogRow], of: dict[str, LogRow]) -> bool:
    return all(rows.get(id) == row for id, row in of.items())


@settings(max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data(), with_cache=st.booleans())
def test_damage_costs_the_rows_it_touches_alone_and_is_named(
    pristine: Pristine, open_at: Open, data: st.DataObject, with_cache: bool
) -> None:
    pristine.restore(with_cache)
    home, file = pristine.home, pristine.file
    harm = harmed(data, pristine.lines)
    file.write_bytes(harm.content)
    written = {row.id: row for row in pristine.rows}
    lines = zip(pristine.rows, pristine.lines, strict=True)
    untouched = {row.id: row for row, line in lines if line in harm.content}

    named = database_health(paths.Home(home)).damages
    is_named = any(str(name).startswith(f"{file}:{line}: ") for name in named for line in harm.places)
    with open_at(home) as workspace:
        rows = known(workspace)
        assert has_all(rows, untouched) and has_all(written, rows)
        new = record.answer(workspace, "att-01", Rating.GOOD).row
    (home / "cache.db").unlink()
    with open_at(home) as workspace:
        rows = known(workspace)
        assert has_all(rows, untouched) and rows.pop(new).subject == "att-01" and has_all(written, rows)
    is_lost = len(rows) < len(written)
    assert is_named or not is_lost or (harm.at_end and not with_cache), [*map(str, named)]
    if is_lost and (torn := harm.content.rpartition(b"\n")[2]):
        aside = [path.read_bytes() for path in (home / "damaged").glob("*")]
        assert torn + b"\n" in [*aside, *file.read_bytes().splitlines(keepends=True)]


# A damaged cache


def test_a_damaged_page_of_the_cache_costs_one_command_at_most(pristine: Pristine, open_at: Open) -> None:
    """SQLite notices damage when it reads the page. The command that reads it may fail; the next makes a new cache."""
    home, size = pristine.home, (pristine.home / "cache.db").stat().st_size
    commands = [("due",), ("answer", "att-01", "--rating", "good"), ("stats",), ("cards", "cache"), ("doctor",)]
    for page in range(0, size // PAGE_BYTES, 5):
        pristine.restore(with_cache=True)
        with (home / "cache.db").open("r+b") as file:
            file.seek(PAGE_BYTES * page)
            file.write(Random(page).randbytes(PAGE_BYTES))
        failed = [result for words in commands if (result := attn(home, *words)).code]
        assert all(is_refusal(result) for result in failed) and len(failed) <= 1, (page, failed)


# A full disk, a read-only home


def with_own_mounts(*commands: list[str | Path]) -> None:
    """Run commands that mount, visible only to this process and its children. Only for forked children."""
    assert ctypes.CDLL(None).unshare(CLONE_NEW_MOUNTS) == 0
    for command in (["mount", "--make-rprivate", "/"], *commands):
        subprocess.run(command, check=True)


@pytest.fixture
def writes(tmp_path: Path, pristine: Pristine, open_at: Open) -> dict[str, tuple[str | Path, ...]]:
    """Return every command that writes to the home."""
    log, shared, rows = tmp_path / "log.jsonl", tmp_path / "shared", foreign_rows("0000beef", 0)
    log.write_text("".join(line_of(row) + "\n" for row in rows), encoding="utf-8")
    shared.mkdir()
    (shared / "0000cafe.jsonl").write_bytes(b"".join(encoded(n, row) for n, row in enumerate(rows, 1)))
    return {
        "answer": ("answer", "att-01", "--rating", "good"),
        "undo": ("undo",),
        "rebuild": ("doctor", "--rebuild"),
        **{act: (act, "att-01") for act in ("suspend", "bury", "unsuspend")},
        **{act: (act, "double") for act in ("hint", "solution", "start")},
        "sync": ("sync", shared),
        "import": ("import", "log", log),
        "restore": ("restore", log),
        "backup": ("backup", "-o", pristine.home / "copy.jsonl"),
        "config": ("config", "lang", "zh"),
    }


def is_refusal(result: Result) -> bool:
    """Return True for exit code 3 with one line of advice, and no traceback."""
    return result.code == 3 and re.fullmatch("attn: (?!unexpected).+; .+\n", result.err) is not None


@needs_mounts
def test_a_read_only_home_can_be_read_and_each_write_is_refused_in_one_line(
    pristine: Pristine, open_at: Open, writes: dict[str, tuple[str | Path, ...]]
) -> None:
    home = pristine.home
    reads = [("due", "--json"), ("cards", "--json"), ("show", "att-01", "--json"), ("stats", "--json")]
    reads += [("export", "log")]
    before, expected = content(home), [attn(home, *words) for words in reads]

    def results() -> tuple[list[Result], dict[str, Result]]:
        with_own_mounts(["mount", "--bind", home, home], ["mount", "-o", "remount,ro,bind", home])
        return [attn(home, *words) for words in reads], {name: attn(home, *words) for name, words in writes.items()}

    read, written = in_fork(results)
    assert [f"{name}: {result}" for name, result in written.items() if not is_refusal(result)] == []
    assert read == expected
    assert content(home) == before and attn(home, "answer", "att-01", "--rating", "good").code == 0


@needs_mounts
@pytest.mark.parametrize(
    "pages", [0, 2, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 4, 8, 16, 32, 64)), MOST_ROOM_PAGES]
)
def test_on_a_full_disk_a_command_does_all_or_nothing(
    pristine: Pristine, open_at: Open, writes: dict[str, tuple[str | Path, ...]], pages: int
) -> None:
    """With `pages` free; a short row may fit into the history's last page, and is then written."""
    home = pristine.home

    def results() -> dict[str, tuple[Result, bool, Result]]:
        with_own_mounts(["mount", "-t", "tmpfs", "-o", "size=4m", "none", home])
        return {name: result(words) for name, words in writes.items()}

    def result(words: tuple[str | Path, ...]) -> tuple[Result, bool, Result]:
        """Return the command's result, whether the history is unchanged, and the next result with free space again."""
        for path in home.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(pristine.copy, home, dirs_exist_ok=True)
        before, filler = content(home), home / ".filler"
        room = os.statvfs(home)
        filler.write_bytes(bytes((room.f_bavail - pages) * room.f_frsize))
        done = attn(home, *words)
        same = content(home) == before
        filler.unlink()
        return done, same, attn(home, "answer", "att-01", "--rating", "good", "--json")

    found = in_fork(results)
    assert [
        f"{name}: {done}, history {'as before' if same else 'changed'}, then {after.code} {after.err}"
        for name, (done, same, after) in found.items()
        if not (done.code == 0 or (is_refusal(done) and same)) or after.code
    ] == []
    refused = {name for name, (done, _, _) in found.items() if done.code}
    assert refused == set() if pages == MOST_ROOM_PAGES else pages or refused >= NEED_ROOM
