"""Print a grade report in plain lines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from attncli.commands import grade
from attncli.domain.grade_report import GradeReport, read
from attncli.i18n import Localised


def report_lines(report: dict[str, Any], challenge: Any, lang: str) -> list[str]:
    return list(grade.report_lines(read(GradeReport, report), challenge, lang))


REPORT = {
    "challenge": "sdpa",
    "file": "sdpa.py",
    "verdict": "accepted",
    "rung": "hardened",
    "checks": [
        {"name": "loads", "status": "pass", "required": True},
        {"name": "device", "status": "skipped", "required": True, "message": "cannot be proved"},
        {"name": "layout", "status": "skipped", "required": False, "message": "needs matches-reference"},
    ],
    "seconds": 0.1,
    "seed": 0,
    "sandbox": [],
}


@pytest.mark.parametrize(("lang", "said"), [("en", "not verified: device"), ("zh", "未能验证：device")])
def test_what_was_accepted_without_a_proof_is_said_under_the_verdict(lang, said):
    challenge = SimpleNamespace(title=Localised("Attention", "注意力"), mistakes={})
    assert list(report_lines(REPORT, challenge, lang))[1].strip() == said
    whole = {**REPORT, "checks": REPORT["checks"][:1]}
    assert not any(said in line for line in report_lines(whole, challenge, lang))


@pytest.mark.parametrize(
    ("lang", "head", "next_step", "mark"),
    [
        (
            "en",
            "Attention: solved: correct at the whiteboard (1 of 2 checks passed)",
            "to harden it: layout",
            "next  layout",
        ),
        ("zh", "注意力：已解出：达到白板面试的要求（2 项检查通过 1 项）", "要加固的：layout", "待加固  layout"),
    ],
)
def test_what_is_still_to_harden_is_told_as_the_next_step(lang, head, next_step, mark):
    challenge = SimpleNamespace(title=Localised("Attention", "注意力"), mistakes={})
    layout = {"name": "layout", "status": "fail", "required": True, "rung": "hardened", "message": "wrong"}
    solved = {**REPORT, "rung": "solved", "checks": [REPORT["checks"][0], layout]}
    lines = list(report_lines(solved, challenge, lang))
    assert (lines[0], lines[1].strip()) == (head, next_step)
    assert any(line.strip().startswith(mark) for line in lines)
    assert not any("FAIL" in line or "失败" in line for line in lines)


CHALLENGE = SimpleNamespace(title=Localised("SDPA", "注意力"), mistakes={})


@pytest.mark.parametrize(("lang", "said"), [("en", "Two axes swapped."), ("zh", "有两个轴互换了。")])
def test_what_the_answers_have_in_common_is_said_in_the_learners_language(lang, said):
    diagnosis = [{"wrong": "transposed", "says": "Two axes swapped.", "says_zh": "有两个轴互换了。", "cards": []}]
    lines = "\n".join(report_lines({**REPORT, "diagnosis": diagnosis}, CHALLENGE, lang))
    assert said in lines and ("Pattern in all answers" if lang == "en" else "共同点") in lines


@pytest.mark.parametrize(("lang", "said"), [("en", "Two mistakes together"), ("zh", "同时犯了两种错误")])
def test_two_mistakes_at_once_are_introduced_as_such(lang, said):
    one = {"wrong": "no-scale", "says": "No scale.", "cards": ["att-01"], "beside": "nan-rows"}
    other = {"wrong": "nan-rows", "says": "Rows of NaN.", "cards": [], "beside": "no-scale"}
    lines = list(report_lines({**REPORT, "diagnosis": [one, other]}, CHALLENGE, lang))
    places = [next(k for k, line in enumerate(lines) if text in line) for text in (said, "No scale.", "Rows of NaN.")]
    assert places == sorted(places) and said not in "\n".join(report_lines(REPORT, CHALLENGE, lang))


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


FORBIDDEN = {"name": "forbidden", "status": "fail", "required": True, "message": "line 4: F.sdpa is not allowed here"}
FOLLOWS = {
    "name": "matches-reference",
    "status": "fail",
    "required": True,
    "message": "IndexError",
    "counterexample": {"args": {"x": 7}},
}


def test_a_forbidden_call_is_not_buried_under_what_follows_from_it():
    report = {**REPORT, "verdict": "rejected", "rung": "none", "checks": [FORBIDDEN, FOLLOWS]}
    lines = list(report_lines(report, CHALLENGE, "en"))
    assert "forbidden" in lines[1] and "IndexError" in lines[2] and not any("x = 7" in line for line in lines)
    alone = report_lines({**report, "checks": [FOLLOWS]}, CHALLENGE, "en")
    assert any("x = 7" in line for line in alone)


@pytest.mark.parametrize(
    ("lang", "gpu", "compiled"),
    [
        ("en", "Run on the GPU with a weaker sandbox", "Compiled for the GPU"),
        ("zh", "在 GPU 上运行，沙箱防护较弱", "已为 GPU 编译"),
    ],
)
def test_a_report_of_a_gpu_says_in_one_line_that_the_sandbox_covers_less(lang, gpu, compiled):
    def lines(kernel, device):
        challenge = SimpleNamespace(title=Localised("SDPA", "注意力"), mistakes={}, kernel=kernel)
        return list(report_lines({**REPORT, "device": device}, challenge, lang))

    assert sum(gpu in line for line in lines(False, "cuda")) == 1
    assert not any(compiled in line for line in lines(False, "cuda"))
    assert any(compiled in line for line in lines(True, "cuda"))
    assert not any(gpu in line for line in lines(False, "cpu"))


@pytest.mark.parametrize(("lang", "note"), [("en", "run in the interpreter as well"), ("zh", "又用解释器运行")])
def test_what_else_there_is_to_say_of_the_device_stands_in_place_of_what_a_gpu_leaves_unseen(lang, note):
    challenge = SimpleNamespace(title=Localised("Total", "求和"), mistakes={}, kernel=True)
    said = {"device_note": "run in the interpreter as well", "device_note_zh": "又用解释器运行"}
    lines = list(report_lines({**REPORT, "device": "cuda", **said}, challenge, lang))
    assert f"  {note}" in lines and ("Compiled for the GPU" if lang == "en" else "已为 GPU 编译") not in "".join(lines)
