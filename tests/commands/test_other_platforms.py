"""The packages for cards import nothing that Windows or macOS lack."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HIDDEN = """
import builtins, sys
lacking = {"fcntl", "resource", "termios", "tty", "pwd", "grp", "pty"}
for name in lacking:
    sys.modules.pop(name, None)
import_as_ever = builtins.__import__
def import_what_there_is(name, *given, **named):
    if name.partition(".")[0] in lacking:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return import_as_ever(name, *given, **named)
builtins.__import__ = import_what_there_is
"""
RUN = """
from attncli.store import history
history.lock = lambda file: None  # Windows locks by msvcrt, which is not here
from attncli import paths
from pathlib import Path
paths.bundled_quizbank, paths.bundled_impl = (lambda: Path(sys.argv[1])), (lambda: Path(sys.argv[2]))
from attncli.__main__ import main
sys.exit(main(sys.argv[3:]))
"""
SCREENS = """
import attncli.tui.app
from attncli.tui.screens import cards, drill, home, mock, quiz, review, stats
"""


def ran(program: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDDEN + program, *words], input=stdin, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("review", "--plain"), "answered and saved"),
        (("quiz", "--plain"), "of 5 right"),
        (("drill", "--plain", "--cram"), "nothing was recorded"),
        (("mock", "--plain", "--minutes", "10"), "Resume: `attn mock`"),
        (("due",), "due"),
        (("cards",), "att-01"),
        (("stats",), "seen"),
    ],
)
def test_cards_are_asked_where_unix_modules_are_missing(
    tmp_path: Path, small_bank: Path, small_impl: Path, words: tuple[str, ...], said: str
) -> None:
    home = ("--home", str(tmp_path / "home"))
    done = ran(RUN, str(small_bank), str(small_impl), *words, *home, stdin="\n" * 20 if words[0] == "quiz" else "\n\n")
    assert done.returncode == 0 and said in done.stdout, done.stderr


def test_the_screens_of_the_cards_import_none_of_them() -> None:
    done = ran(SCREENS)
    assert done.returncode == 0, done.stderr


def test_what_is_hidden_is_hidden() -> None:
    assert "No module named 'fcntl'" in ran("import fcntl").stderr
