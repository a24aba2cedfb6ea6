"""Print a grade report in plain lines, once and with `--watch`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from attncli import paths
from attncli.commands import grade
from attncli.commands.challenges import print_hint
from attncli.commands.grade import KEYS, SHORT, GradeWatch, changes
from attncli.domain.grade_report import GradeReport, read
from attncli.errors import JudgeFailed
from attncli.i18n import Localised, quoted
from attncli.practice.challenges import Hint
from attncli.practice.grade import GradeOptions
from attncli.practice.workspace import Workspace

CHALLENGE = SimpleNamespace(title=Localised("SDPA", "注意力"), mistakes={}, kernel=False)
PASSED = [{"name": name, "status": "pass"} for name in ("loads", "matches-reference")]
FAILED = {"name": "matches-reference", "status": "fail", "reason": "values", "message": "largest error 1"}
REPORT: dict[str, Any] = {"challenge": "sdpa", "file": "sdpa.py", "verdict": "accepted", "rung": "hardened"}
REPORT |= {"seconds": 0.1, "seed": 0, "sandbox": []}
REPORT["checks"] = [
    {"name": "loads", "status": "pass", "required": True},
    {"name": "device", "status": "skipped", "required": True, "message": "cannot be proved"},
    {"name": "layout", "status": "skipped", "required": False, "message": "needs matches-reference"},
]
WHOLE: dict[str, Any] = {**REPORT, "challenge": "double", "file": "double.py", "checks": PASSED, "device": "cpu"}
ACCEPTED = read(GradeReport, WHOLE)
UNREACHED = {**WHOLE, "verdict": "rejected", "rung": "none"}
REJECTED = read(GradeReport, {**UNREACHED, "checks": [PASSED[0], FAILED]})
RAISED = read(GradeReport, {**UNREACHED, "checks": [PASSED[0], {**FAILED, "reason": "exception"}]})


def report_lines(report: dict[str, Any], challenge: Any, lang: str) -> list[str]:
    return list(grade.report_lines(read(GradeReport, report), challenge, lang))


def test_what_was_accepted_without_a_proof_is_said_under_the_verdict():
    whole = {**REPORT, "checks": REPORT["checks"][:1]}
    for lang, said in (("en", "not verified: device"), ("zh", "未能验证：device")):
        assert report_lines(REPORT, CHALLENGE, lang)[1].strip() == said
        assert not any(said in line for line in report_lines(whole, CHALLENGE, lang))


def test_what_is_still_to_harden_is_told_as_the_next_step():
    layout = {"name": "layout", "status": "fail", "required": True, "rung": "hardened", "message": "wrong"}
    solved = {**REPORT, "rung": "solved", "checks": [REPORT["checks"][0], layout]}
    en = ("SDPA: solved: correct at the whiteboard (1 of 2 checks passed)", "to harden it: layout", "next  layout")
    zh = ("注意力：已解出：达到白板面试的要求（2 项检查通过 1 项）", "要加固的：layout", "待加固  layout")
    for lang, (head, next_step, mark) in {"en": en, "zh": zh}.items():
        lines = report_lines(solved, CHALLENGE, lang)
        assert (lines[0], lines[1].strip()) == (head, next_step)
        assert any(line.strip().startswith(mark) for line in lines)
        assert not any("FAIL" in line or "失败" in line for line in lines)


def test_what_the_answers_have_in_common_is_said_and_two_mistakes_are_introduced_as_such():
    one = {"wrong": "no-scale", "says": "No scale.", "cards": ["att-01"], "beside": "nan-rows"}
    other = {"wrong": "nan-rows", "says": "Rows of NaN.", "cards": [], "beside": "no-scale"}
    for lang, said in (("en", "Two mistakes together"), ("zh", "同时犯了两种错误")):
        text = "\n".join(report_lines({**REPORT, "diagnosis": [one, other]}, CHALLENGE, lang))
        assert text.index(said) < text.index("No scale.") < text.index("Rows of NaN.")
        assert said not in "\n".join(report_lines(REPORT, CHALLENGE, lang))
    diagnosis = [{"wrong": "transposed", "says": "Two axes swapped.", "says_zh": "有两个轴互换了。", "cards": []}]
    en, zh = ("\n".join(report_lines({**REPORT, "diagnosis": diagnosis}, CHALLENGE, lang)) for lang in ("en", "zh"))
    assert "Two axes swapped." in en and "Pattern in all answers" in en and "有两个轴互换了。" in zh and "共同点" in zh


def test_failed_checks_are_a_line_each_the_rest_one_line_and_all_of_it_with_full():
    fail = {"status": "fail", "required": True, "message": "wrong"}
    shown = {"args": {f"x{number}": {"shape": [9, 3], "dtype": "float32", "values": [0.0] * 27} for number in range(9)}}
    checks = [{**fail, "name": "gradients", "counterexample": shown}, {**fail, "name": "pure"}, *REPORT["checks"]]
    report = read(GradeReport, {**REPORT, "verdict": "rejected", "rung": "none", "checks": checks})
    lines = list(grade.report_lines(report, CHALLENGE, "en"))
    assert len(lines) == 29 and lines[1] == "  FAIL  gradients  wrong"
    assert lines[-4].strip().startswith("… ") and lines[-4].endswith(" more lines, with --full")
    assert lines[-3:-1] == ["  FAIL  pure  wrong", "  passed: loads · skipped: device, layout"]
    full = list(grade.report_lines(report, CHALLENGE, "en", layout=grade.Layout(full=True)))
    assert len(full) > 30 and any("cannot be proved" in line for line in full)


def test_a_forbidden_call_is_not_buried_under_what_follows_from_it():
    fail = {"status": "fail", "required": True}
    forbidden = {**fail, "name": "forbidden", "message": "line 4: F.sdpa is not allowed here"}
    follows = {**fail, "name": "matches-reference", "message": "IndexError", "counterexample": {"args": {"x": 7}}}
    report = {**REPORT, "verdict": "rejected", "rung": "none", "checks": [forbidden, follows]}
    lines = report_lines(report, CHALLENGE, "en")
    assert "forbidden" in lines[1] and "IndexError" in lines[2] and not any("x = 7" in line for line in lines)
    assert any("x = 7" in line for line in report_lines({**report, "checks": [follows]}, CHALLENGE, "en"))


def test_a_report_of_a_gpu_says_in_one_line_that_the_sandbox_covers_less():
    kernel = SimpleNamespace(**vars(CHALLENGE) | {"kernel": True})
    gpu, cpu = {**REPORT, "device": "cuda"}, {**REPORT, "device": "cpu"}
    noted = {**gpu, "device_note": "run in the interpreter as well", "device_note_zh": "又用解释器运行"}
    for lang, weaker, compiled, note in (
        ("en", "Run on the GPU with a weaker sandbox", "Compiled for the GPU", "run in the interpreter as well"),
        ("zh", "在 GPU 上运行，沙箱防护较弱", "已为 GPU 编译", "又用解释器运行"),
    ):
        assert sum(weaker in line for line in report_lines(gpu, CHALLENGE, lang)) == 1
        assert not any(compiled in line for line in report_lines(gpu, CHALLENGE, lang))
        assert any(compiled in line for line in report_lines(gpu, kernel, lang))
        assert not any(weaker in line for line in report_lines(cpu, CHALLENGE, lang))
        lines = report_lines(noted, kernel, lang)
        assert f"  {note}" in lines and not any(compiled in line for line in lines), "in its place"


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


def test_a_file_is_graded_when_it_changes_and_only_then_in_both_languages(workspace, file, capsys):
    watch = watching(workspace, file, REJECTED, ACCEPTED, ACCEPTED, REJECTED)
    watch.poll()
    watch.poll()
    first = capsys.readouterr().out
    assert first.count("Doubling: rejected") == 2 and "changed" not in first and "attn solution double" not in first
    assert first.endswith(f"(1 of 2 checks passed)\n{KEYS['en']}\n")
    file.write_text("def double(x): return x + x\n", encoding="utf-8")
    watch.poll()
    out = capsys.readouterr().out
    assert "changed: matches-reference FAIL (wrong values) → pass" in out
    assert "Compare with the reference: `attn solution double`" in out
    end = f"hardened: ready for production (2 of 2 checks passed)\n{KEYS['en']}\n"
    assert out.endswith(end), "the verdict comes last"
    watch.grade()
    assert "attn solution double" not in capsys.readouterr().out, "what comes after solving is told once"
    file.unlink()
    watch.poll()
    file.write_text("another\n", encoding="utf-8")
    watch.poll()
    assert capsys.readouterr().out.count("rejected") == 2, "a file that goes and comes back is graded again"
    workspace.lang = "zh"
    watch = watching(workspace, file, RAISED, REJECTED)
    watch.poll()
    watch.press("r")
    out = capsys.readouterr().out
    assert "加倍：未通过（2 项检查通过 1 项）" in out and KEYS["zh"] in out
    assert "变化：matches-reference 失败 (抛出异常) → 失败 (数值不对)" in out


def test_another_reason_is_a_change_and_the_same_report_is_none():
    before = {"loads": ("pass", ""), "matches-reference": ("fail", "exception")}
    changed = "  changed: matches-reference FAIL (raised an exception) → FAIL (wrong values)"
    assert list(changes(before, REJECTED)) == [changed]
    assert list(changes(before, RAISED)) == ["  no check changed"]
    assert list(changes({}, REJECTED)) == []


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


def test_a_hint_reads_as_that_of_attn_hint(workspace, file, capsys):
    watch = watching(workspace, file)
    hints = workspace.library.challenge("double").hints
    for number, lang in ((1, "en"), (2, "zh"), (3, "en"), (4, "en"), (4, "zh")):
        workspace.lang = lang
        watch.press("h")
        pressed = capsys.readouterr()
        print_hint(Hint(min(number, 3), 3, hints[min(number, 3) - 1], number > 3), "double", lang)
        assert capsys.readouterr() == pressed


def test_the_next_challenge_is_started_or_there_is_none_left(small_bank, small_impl, workspace, file, capsys):
    watching(workspace, file).press("n")
    assert capsys.readouterr().out == "Every other challenge is solved.\n"
    shutil.copytree(small_impl / "basics" / "double", small_impl / "basics" / "twice")
    with Workspace.open(workspace.home, workspace.clock, quizbank=small_bank, impl=small_impl) as two:
        watch = watching(two, file)
        watch.press("n")
    assert (watch.id, watch.file) == ("twice", file.parent / "twice.py") and watch.file.exists()
    assert f"twice: {watch.file}" in capsys.readouterr().out


def test_a_judge_or_an_editor_that_fails_is_said_and_the_watch_goes_on(workspace, file, capsys, monkeypatch):
    watch = watching(workspace, file, JudgeFailed(quoted("the judge died; run attn doctor")), REJECTED)
    watch.poll()
    assert capsys.readouterr().err == "attn: the judge died; run attn doctor\n"
    watch.press("r")
    assert "rejected" in capsys.readouterr().out
    monkeypatch.setenv("VISUAL", "/nowhere/editor -x")
    watch.press("e")
    assert "Cannot start the editor “/nowhere/editor” (No such file or directory)" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_key_is_read_without_enter_and_the_terminal_is_put_back(monkeypatch, workspace, file):
    import pty
    import termios

    leader, follower = pty.openpty()
    with os.fdopen(follower) as terminal:
        before = termios.tcgetattr(follower)
        monkeypatch.setattr(sys, "stdin", terminal)
        with grade.keys() as read:
            os.write(leader, b"h")
            assert read() == "h"
            assert read() == ""
        assert termios.tcgetattr(follower) == before
        with grade.keys() as read:
            os.close(leader)
            key = read()
    assert watching(workspace, file).press(key) is False, "a terminal that is gone ends the watch"
