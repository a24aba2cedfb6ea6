"""Write to broken or closed outputs: exit codes keep their meaning, and no bug is reported."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from attncli.commands.session import Boundary, Session
from attncli.domain.text import hidden_in

Attn = Callable[..., Any]

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs /dev/full and the shell of Unix")
BROKEN = "topic: att\ncards: [\n"


@pytest.fixture
def folder(tmp_path: Path, indexed_home: Path) -> Path:
    """Return a folder with a home in it."""
    copytree(indexed_home, tmp_path / "home")
    return tmp_path


def shell(redirected: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = redirected.replace("attn", f"{sys.executable} -m attncli", 1)
    environment = {**os.environ, "ATTN_HOME": str(folder / "home")}
    return subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)


@unix_only
@pytest.mark.parametrize("words", ["due", "due --json", "challenges", "config"])
def test_a_full_disk_behind_stdout_is_said_in_one_line(folder: Path, words: str) -> None:
    done = shell(f"attn {words} >/dev/full", folder)
    assert done.returncode == 3
    assert done.stderr == (
        "attn: cannot write the output (No space left on device); free some space or send it elsewhere\n"
    )


@unix_only
@pytest.mark.parametrize("words", ["due", "challenges", "show att-02", "export summary"])
def test_without_stdout_a_command_still_runs(folder: Path, words: str) -> None:
    done = shell(f"attn {words} >&-", folder)
    assert (done.returncode, done.stderr) == (0, "")


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


def test_what_is_said_on_stderr_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Boundary(Session()) as boundary:
        raise KeyError("\x1b[2J\x1b]0;title\x07\x9b31m\u202ename\r\n\x08end")
    assert boundary.code == 3
    said = capsys.readouterr().err
    assert not set(said) & {"\x1b", "\x07", "\x9b", "\r", "\x08", "\u202e"}


def test_neither_the_traceback_nor_the_log_can_drive_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    session = Session()
    session.home_folder, session.debug = tmp_path, True
    with Boundary(session):
        raise KeyError("\x1b[2J\x1b]0;title\x07\u202ename\u200b")
    said, log = capsys.readouterr().err, (tmp_path / "log" / "attn.log").read_text(encoding="utf-8")
    assert "Traceback" in said and "Traceback" in log
    assert hidden_in(said + log) == []


class Terminal(io.StringIO):
    """A text buffer that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_line_takes_the_place_of_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal("matches-reference …"))
    sys.stderr.seek(0, io.SEEK_END)
    with Boundary(Session()) as boundary:
        raise KeyboardInterrupt
    assert boundary.code == 130
    assert sys.stderr.getvalue().startswith("matches-reference …\r\x1b[2Kattn: interrupted")  # type: ignore[attr-defined]


def test_an_interrupt_while_the_program_is_loaded_is_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'attncli.commands.session': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "import attncli.__main__\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "attn: interrupted before it began\n")


def test_what_is_left_for_a_closed_window_changes_no_exit_code() -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    left = (
        "import sys\nfrom attncli.__main__ import main\n"
        "sys.stderr.write('half a frame')\nsys.stdin.readline()\nsys.exit(main(['--version']))"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", left],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    os.close(ours)
    os.close(theirs)
    program.communicate(b"\n")
    assert program.returncode == 0
