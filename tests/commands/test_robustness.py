"""Run the program as a process: killed at any moment, two at once, without space or permission, interrupted."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attncli.store.history import lock

Attn = Callable[..., Any]
Program = Callable[..., subprocess.Popen[str]]

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and limits of Unix")


def one_line(process: subprocess.Popen[str], code: int) -> str:
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    (line,) = err.splitlines()
    return line


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
    processes = [
        program("answer", card, "--rating", "good", "--json") for card in ("att-01", "att-01", "kv-01", "kv-02")
    ]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert attn("stats", "--json").json["reviews"] == 4
    derived = attn("show", "att-01", "--json").json["schedule"]
    assert derived["repetitions"] == 2


@unix_only
def test_a_full_disk_exits_3_and_keeps_what_was_there(program: Program, attn: Attn) -> None:
    attn("answer", "att-01", "--rating", "good")
    line = one_line(program("answer", "att-01", "--rating", "good", file_limit=0), 3)
    assert "free some disk space and try again" in line
    assert attn("stats", "--json").json["reviews"] == 1


READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
may_mount = sys.platform == "linux" and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount, reason="needs the right to mount")
@pytest.mark.parametrize("words", [["answer", "att-01", "--rating", "good"], ["doctor", "--rebuild"]])
def test_a_home_that_cannot_be_written_can_be_backed_up_and_another_one_is_advised(
    program: Program, attn: Attn, home: Path, tmp_path: Path, words: list[str]
) -> None:
    attn("answer", "att-01", "--rating", "good")
    prefix = ("unshare", "-m", "sh", "-c", READ_ONLY, str(home))
    assert one_line(program(*words, prefix=prefix), 3).endswith("choose another folder with --home")
    process = program("backup", "-o", str(tmp_path / "copy.jsonl"), prefix=prefix)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "") and attn("restore", str(tmp_path / "copy.jsonl")).code == 0
    assert attn("stats", "--json").json["reviews"] == 1


def test_a_home_that_is_a_file_exits_3(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--home" in one_line(program("due", ATTN_HOME=str(tmp_path / "file" / "below")), 3)


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


lockable = pytest.mark.parametrize("name", ["cache.db", "history/.lock"])


@unix_only
@lockable
def test_a_lock_is_waited_for(program: Program, attn: Attn, home: Path, name: str) -> None:
    attn("answer", "att-01", "--rating", "good")
    with locked(home / name):
        process = program("answer", "att-01", "--rating", "good")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.5)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and out.startswith("att-01 good")


@unix_only
@lockable
def test_ctrl_c_exits_130_and_records_nothing(program: Program, attn: Attn, home: Path, name: str) -> None:
    attn("answer", "att-01", "--rating", "good")
    before = attn("export", "log").out
    with locked(home / name):
        process = program("answer", "att-01", "--rating", "good")
        _wait_until_open(process.pid, home / name)
        process.send_signal(signal.SIGINT)
    assert one_line(process, 130).startswith("attn: interrupted")
    assert attn("export", "log").out == before


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
    process = program("cards", "--lang", "zh", "--json", PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)[0]["question"] == "为什么除以 √d？"
    process = program("cards", "--lang", "zh", PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "att-01" in out, err


def test_an_unexpected_error_is_one_line_and_its_trace_is_in_the_log(
    attn: Attn, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attncli.practice import stats

    def explode(*_: object) -> None:
        raise ZeroDivisionError("by a test")

    monkeypatch.setattr(stats, "forecast", explode)
    plain = attn("stats")
    assert plain.code == 3 and "unexpected ZeroDivisionError: by a test" in plain.line
    assert "Traceback" in (home / "log" / "attn.log").read_text(encoding="utf-8")
    debug = attn("stats", "--debug")
    assert debug.code == 3 and "Traceback" in debug.err


def test_a_usage_error_with_debug_shows_where_it_came_from(attn: Attn, home: Path) -> None:
    assert "Traceback" in attn("--debug", "show", "nope").err
    assert "unknown card nope" in (home / "log" / "attn.log").read_text(encoding="utf-8")
