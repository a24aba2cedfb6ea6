"""`attn grade --watch`: the files that it grades, the changes that it reports, and its keys."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attncli import paths
from attncli.commands import grade as module
from attncli.commands.challenges import print_hint
from attncli.commands.grade import KEYS, SHORT, GradeWatch, changes
from attncli.domain.grade_report import GradeReport, read
from attncli.errors import JudgeFailed
from attncli.i18n import quoted
from attncli.practice.challenges import Hint
from attncli.practice.grade import GradeOptions
from attncli.practice.workspace import Workspace

WHOLE: dict[str, Any] = {
    "challenge": "double",
    "file": "double.py",
    "verdict": "accepted",
    "checks": [{"name": "loads", "status": "pass"}, {"name": "matches-reference", "status": "pass"}],
    "diagnosis": [],
    "score": {"passed": 2, "total": 2},
    "seconds": 0.1,
    "seed": 0,
    "sandbox": ["process"],
    "device": "cpu",
    "rung": "hardened",
}
ACCEPTED = read(GradeReport, WHOLE)
FAILED = {"name": "matches-reference", "status": "fail", "reason": "values", "message": "largest error 1"}
UNREACHED = {**WHOLE, "verdict": "rejected", "rung": "none"}
REJECTED = read(GradeReport, {**UNREACHED, "checks": [WHOLE["checks"][0], FAILED]})
RAISED = read(GradeReport, {**UNREACHED, "checks": [WHOLE["checks"][0], {**FAILED, "reason": "exception"}]})


class Scripted:
    """A judge with scripted answers."""

    def __init__(self, *answers: GradeReport | JudgeFailed) -> None:
        self.answers = list(answers)

    def grade(self, request: object, on_check: object = None) -> GradeReport:
        answer = self.answers.pop(0)
        if isinstance(answer, JudgeFailed):
            raise answer
        return answer


@pytest.fixture
def workspace(tmp_path: Path, small_bank: Path, small_impl: Path, moving_clock: Any) -> Iterator[Workspace]:
    home = paths.home(tmp_path / "home", {})
    with Workspace.open(home, moving_clock, quizbank=small_bank, impl=small_impl) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "double.py"
    path.write_text("def double(x): ...\n", encoding="utf-8")
    return path


def watching(workspace: Workspace, file: Path, *answers: GradeReport | JudgeFailed) -> GradeWatch:
    return GradeWatch(workspace, Scripted(*answers), "double", file, GradeOptions(), SHORT)  # type: ignore[arg-type]


def test_what_comes_after_solving_is_told_once(workspace, file, capsys):
    watch = watching(workspace, file, REJECTED, ACCEPTED, ACCEPTED)
    told = []
    for _ in range(3):
        watch.grade()
        told.append("Compare with the reference: `attn solution double`" in capsys.readouterr().out)
    assert told == [False, True, False]


def test_a_file_is_graded_when_it_changes_and_only_then(workspace, file, capsys):
    watch = watching(workspace, file, REJECTED, ACCEPTED)
    watch.poll()
    watch.poll()
    first = capsys.readouterr().out
    assert (
        first.count("Doubling: rejected") == 2
        and first.endswith(f"(1 of 2 checks passed)\n{KEYS['en']}\n")
        and "changed" not in first
    )
    file.write_text("def double(x): return x + x\n", encoding="utf-8")
    watch.poll()
    out = capsys.readouterr().out
    assert "changed: matches-reference FAIL (wrong values) → pass" in out
    assert out.endswith(f"hardened: ready for production (2 of 2 checks passed)\n{KEYS['en']}\n"), (
        "the verdict comes last"
    )


def test_a_file_that_goes_and_comes_back_is_graded_again(workspace, file, capsys):
    watch = watching(workspace, file, REJECTED, REJECTED)
    watch.poll()
    file.unlink()
    watch.poll()
    file.write_text("another\n", encoding="utf-8")
    watch.poll()
    assert capsys.readouterr().out.count("rejected") == 2 * 2


def test_another_reason_is_a_change_and_the_same_report_is_none():
    before = {"loads": ("pass", ""), "matches-reference": ("fail", "exception")}
    assert list(changes(before, REJECTED)) == [
        "  changed: matches-reference FAIL (raised an exception) → FAIL (wrong values)"
    ]
    assert list(changes(before, RAISED)) == ["  no check changed"]
    assert list(changes({}, REJECTED)) == []


def test_in_chinese_everything_but_code_is_chinese(workspace, file, capsys):
    workspace.lang = "zh"
    watch = watching(workspace, file, RAISED, REJECTED)
    watch.poll()
    watch.press("r")
    out = capsys.readouterr().out
    assert "加倍：未通过（2 项检查通过 1 项）" in out and KEYS["zh"] in out
    assert "变化：matches-reference 失败 (抛出异常) → 失败 (数值不对)" in out


def test_the_keys_give_a_hint_and_the_solution_and_q_ends(workspace, file, capsys):
    watch = watching(workspace, file)
    assert watch.press("h") and "Hint 1 of 3: Add." in capsys.readouterr().out
    assert watch.press("s")
    asked = capsys.readouterr().out
    assert "Press s again to show the reference" in asked and "return x + x" not in asked
    assert watch.press("h") and watch.press("s") and "return x + x" not in capsys.readouterr().out, "asked anew"
    assert watch.press("s") and "return x + x" in capsys.readouterr().out
    assert watch.press("x")
    assert not watch.press("q")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_hint_reads_as_that_of_attn_hint(workspace, file, capsys, lang):
    workspace.lang = lang
    watch = watching(workspace, file)
    for number in range(1, 5):
        watch.press("h")
        hint = Hint(min(number, 3), 3, workspace.library.challenge("double").hints[min(number, 3) - 1], number > 3)
        pressed = capsys.readouterr()
        print_hint(hint, "double", lang)
        assert capsys.readouterr() == pressed


def test_the_next_challenge_is_started_or_there_is_none_left(small_impl, workspace, file, capsys):
    watch = watching(workspace, file)
    watch.press("n")
    assert capsys.readouterr().out == "Every other challenge is solved.\n"
    second = small_impl / "basics" / "twice"
    shutil.copytree(small_impl / "basics" / "double", second)
    with Workspace.open(
        workspace.home, workspace.clock, quizbank=small_impl.parent / "small-bank", impl=small_impl
    ) as two:
        watch = watching(two, file)
        watch.press("n")
    assert (watch.id, watch.file) == ("twice", file.parent / "twice.py") and watch.file.exists()
    assert f"twice: {watch.file}" in capsys.readouterr().out


def test_an_editor_that_is_not_there_is_named(workspace, file, capsys, monkeypatch):
    monkeypatch.setenv("VISUAL", "/nowhere/editor -x")
    watching(workspace, file).press("e")
    assert "Cannot start the editor “/nowhere/editor” (No such file or directory)" in capsys.readouterr().err


def test_a_judge_that_fails_is_said_and_the_watch_goes_on(workspace, file, capsys):
    watch = watching(workspace, file, JudgeFailed(quoted("the judge died; run attn doctor")), REJECTED)
    watch.poll()
    assert capsys.readouterr().err == "attn: the judge died; run attn doctor\n"
    watch.press("r")
    assert "rejected" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_key_is_read_from_a_terminal_without_enter_and_the_terminal_is_put_back(monkeypatch):
    import pty
    import termios

    leader, follower = pty.openpty()
    with os.fdopen(follower) as terminal:
        before = termios.tcgetattr(follower)
        monkeypatch.setattr(sys, "stdin", terminal)
        with module.keys() as read:
            os.write(leader, b"h")
            assert read() == "h"
            assert read() == ""
        assert termios.tcgetattr(follower) == before
    os.close(leader)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_that_is_gone_ends_the_watch(monkeypatch, workspace, file):
    import pty

    leader, follower = pty.openpty()
    with os.fdopen(follower) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        with module.keys() as read:
            os.close(leader)
            key = read()
    assert watching(workspace, file).press(key) is False
