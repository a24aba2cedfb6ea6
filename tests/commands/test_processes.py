"""The program as a process: killed, two at once, no space or permission, interrupted, broken outputs."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest

from attncli.commands.session import Boundary, Session
from attncli.domain.text import hidden_in
from attncli.practice import stats
from attncli.store.history import lock

from .conftest import Attn, Program

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs signals, limits, /dev/full and the shell of Unix")
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
may_mount = sys.platform == "linux" and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
BROKEN = "topic: att\ncards: [\n"
INTERRUPTED = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "attncli.commands.session": raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
import attncli.__main__
"""


def one_line(process: subprocess.Popen[str], code: int) -> str:
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    (line,) = err.splitlines()
    return line


@pytest.mark.slow
@unix_only
def test_a_review_that_was_printed_survives_kill_9(program: Program, attn: Attn) -> None:
    for number in range(1, 6):
        with program("answer", "att-01", "--rating", "good") as process:
            assert process.stdout is not None and process.stdout.read(1) == "a"
            process.kill()
        assert len(attn("export", "log").out.splitlines()) == number


@unix_only
def test_two_processes_answer_at_once(program: Program, attn: Attn) -> None:
    attn("due")
    cards = ("att-01", "att-01", "kv-01", "kv-02")
    for process in [program("answer", card, "--rating", "good", "--json") for card in cards]:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert attn("stats", "--json").json["reviews"] == 4
    derived = attn("show", "att-01", "--json").json["schedule"]
    assert derived["repetitions"] == 2


@unix_only
def test_a_full_disk_and_an_unusable_home_exit_3_and_keep_all(program: Program, attn: Attn, tmp_path: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    line = one_line(program("answer", "att-01", "--rating", "good", file_limit=0), 3)
    assert "free some disk space and try again" in line
    assert attn("stats", "--json").json["reviews"] == 1
    (tmp_path / "file").write_text("")
    assert "--home" in one_line(program("due", ATTN_HOME=str(tmp_path / "file" / "below")), 3)


@pytest.mark.skipif(not may_mount, reason="needs the right to mount")
def test_a_read_only_home_can_be_backed_up(program: Program, attn: Attn, home: Path, tmp_path: Path) -> None:
    attn("answer", "att-01", "--rating", "good")
    prefix = ("unshare", "-m", "sh", "-c", READ_ONLY, str(home))
    for words in (["answer", "att-01", "--rating", "good"], ["doctor", "--rebuild"]):
        assert one_line(program(*words, prefix=prefix), 3).endswith("choose another folder with --home")
    process = program("backup", "-o", str(tmp_path / "copy.jsonl"), prefix=prefix)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "") and attn("restore", str(tmp_path / "copy.jsonl")).code == 0
    assert attn("stats", "--json").json["reviews"] == 1


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock that a writing process takes on the cache, or on the history."""
    if path.name == "cache.db":
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("BEGIN IMMEDIATE")
            yield
            raw.execute("ROLLBACK")
    else:
        with path.open("ab") as file:
            lock(file)
            yield


@unix_only
@pytest.mark.parametrize("name", [pytest.param("cache.db", marks=pytest.mark.full), "history/.lock"])
def test_a_lock_is_waited_for_and_ctrl_c_records_nothing(program: Program, attn: Attn, home: Path, name: str) -> None:
    attn("answer", "att-01", "--rating", "good")
    before = attn("export", "log").out
    with locked(home / name):
        interrupted = program("answer", "att-01", "--rating", "good")
        _wait_until_open(interrupted.pid, home / name)
        interrupted.send_signal(signal.SIGINT)
        assert one_line(interrupted, 130).startswith("attn: interrupted")
        assert attn("export", "log").out == before
        process = program("answer", "att-01", "--rating", "good")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.5)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and out.startswith("att-01 good")


def _wait_until_open(pid: int, file: Path) -> None:
    """Wait until the process has the file open, or one second without /proc."""
    descriptors = Path(f"/proc/{pid}/fd")
    for _ in range(1500 if descriptors.exists() else 50):
        with contextlib.suppress(OSError):
            if any(link.readlink() == file for link in descriptors.iterdir()):
                return
        time.sleep(0.02)


@unix_only
def test_a_reader_that_has_enough_is_no_failure(program: Program, attn: Attn) -> None:
    attn("due")
    process = program("cards", "--json")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""


def test_a_terminal_without_chinese_still_gets_the_text(program: Program, attn: Attn) -> None:
    attn("due")
    ascii_only = {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"}
    for words in (["--json"], []):
        process = program("cards", "--lang", "zh", *words, **ascii_only)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert json.loads(out)[0]["question"] == "为什么除以 √d？" if words else "att-01" in out and r"\u4e3a" in out


def test_an_unexpected_error_is_one_line_and_is_logged(attn: Attn, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise ZeroDivisionError("by a test")

    log = home / "log" / "attn.log"
    assert "Traceback" in attn("--debug", "show", "nope").err
    assert "unknown card nope" in log.read_text(encoding="utf-8")
    monkeypatch.setattr(stats, "forecast", explode)
    plain = attn("stats")
    assert plain.code == 3 and "unexpected ZeroDivisionError: by a test" in plain.line
    assert "ZeroDivisionError" in log.read_text(encoding="utf-8")
    debug = attn("stats", "--debug")
    assert debug.code == 3 and "Traceback" in debug.err


@pytest.fixture
def folder(tmp_path: Path, indexed_home: Path) -> Path:
    """Return a folder with a home in it."""
    return copytree(indexed_home, tmp_path / "home").parent


def shell(redirected: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = redirected.replace("attn", f"{sys.executable} -m attncli", 1)
    environment = {**os.environ, "ATTN_HOME": str(folder / "home")}
    return subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@unix_only
def test_a_full_disk_behind_stdout_is_said_in_one_line_and_without_stdout_a_command_still_runs(folder: Path) -> None:
    said = "cannot write the output (No space left on device); free some space or send it elsewhere"
    for words in ("due", "due --json", "challenges", "config"):
        done = shell(f"attn {words} >/dev/full", folder)
        assert (done.returncode, done.stderr) == (3, f"attn: {said}\n"), words
    for words in ("due", "show att-02", "export summary"):
        done = shell(f"attn {words} >&-", folder)
        assert (done.returncode, done.stderr) == (0, ""), words


@pytest.mark.slow
@unix_only
def test_a_verdict_stands_though_nobody_reads_it(tmp_path: Path) -> None:
    banks = tmp_path / "banks"
    banks.mkdir()
    for number in range(2000):
        (banks / f"{'long-name-' * 10}{number}.yaml").write_text(BROKEN, encoding="utf-8")
    done = shell(f"attn bank check {banks} | head -n 1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.startswith("attn: 2000 problems") and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("debug", [False, True])
def test_no_error_can_drive_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path, debug: bool) -> None:
    session = Session()
    session.home_folder, session.debug = tmp_path, debug
    with Boundary(session) as boundary:
        raise KeyError("\x1b[2J\x1b]0;title\x07\x9b31m\u202ename\r\n\x08end\u200b")
    said, log = capsys.readouterr().err, (tmp_path / "log" / "attn.log").read_text(encoding="utf-8")
    assert boundary.code == 3 and ("Traceback" in said) is debug and "Traceback" in log
    assert hidden_in(said + log) == [] and not set(said) & {"\r", "\x08"}


def test_on_a_terminal_the_line_takes_the_place_of_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    terminal.write("matches-reference …")
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys, "stderr", terminal)
    with Boundary(Session()) as boundary:
        raise KeyboardInterrupt
    assert boundary.code == 130
    assert terminal.getvalue().startswith("matches-reference …\r\x1b[2Kattn: interrupted")


def test_an_interrupt_while_the_program_is_loaded_is_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "attn: interrupted before it began\n")
