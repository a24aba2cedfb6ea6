"""Each command imports what it needs alone: heavy libraries late, and for cards nothing that Windows lacks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Attn, Program

HEAVY = "torch numpy hypothesis textual rich yaml pydantic fsrs click tomlkit jinja2 platformdirs".split()
SPY = "import atexit, json, sys; atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))\n"


def loaded_by(program: Program, *words: str) -> set[str]:
    process = program(*words, spy=SPY)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    modules = {name.partition(".")[0] for name in json.loads(err.splitlines()[-1])}
    return modules.intersection(HEAVY)


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        (["due"], ""),
        (["due", "--lang", "zh"], "click"),
        (["answer", "att-01", "--rating", "good"], "click fsrs"),
        (["cards", "kv"], "click"),
        (["show", "att-01"], "click"),
        (["stats"], "click"),
        (["hint", "double"], "click fsrs"),
        (["review", "--plain"], "click fsrs"),
        (["config", "lang", "zh"], "click tomlkit"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_command_loads_no_heavy_library_in_vain(program: Program, attn: Attn, words: list[str], loaded: str) -> None:
    attn("answer", "att-01", "--rating", "good")  # the bank is indexed now
    attn("due")  # and today's list is made
    assert loaded_by(program, *words) <= set(loaded.split())


def test_the_spy_sees_what_is_loaded(program: Program) -> None:
    assert {"yaml", "pydantic", "fsrs"} <= loaded_by(program, "answer", "att-01", "--rating", "good")


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
    assert "No module named 'fcntl'" in ran("import fcntl").stderr, "what is hidden is hidden"
