"""A grade report in plain lines."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from attncli.commands.printed_report import counterexample_lines, report_lines, shown_value, value_lines


def test_a_mask_is_drawn_as_a_grid():
    mask = {"shape": [2, 3], "dtype": "bool", "values": [True, False, True, False, False, True]}
    assert list(value_lines("mask =", mask, "")) == [
        "mask = (mask, shape [2, 3], 1 = True)",
        "    1 · 1",
        "    · · 1",
    ]


def test_a_small_tensor_is_nested_brackets_with_dtype_and_shape():
    tensor = {"shape": [2, 1], "dtype": "float32", "values": [0.5, 2]}
    assert shown_value(tensor) == "[[0.5], [2]] (float32, shape [2, 1])"


def test_axes_that_are_known_are_named():
    tensor = {"shape": [2, 1], "dtype": "float32", "values": [0.5, 2], "axes": ["", "d"]}
    assert shown_value(tensor) == "[[0.5], [2]] (float32, shape [2, d=1])"
    assert shown_value({**tensor, "truncated": True}) == "float32 tensor of shape [2, d=1]"
    mask = {"shape": [1, 2], "dtype": "bool", "values": [True, False], "axes": ["T", "S"]}
    assert next(value_lines("mask =", mask, "")) == "mask = (mask, shape [T=1, S=2], 1 = True)"
    shown = {"args": {}, "expected": tensor, "got": tensor, "first_wrong_index": [1, 0]}
    assert list(counterexample_lines(shown, ""))[-1] == "first wrong at [1, d=0]"


def test_a_large_tensor_is_its_shape():
    tensor = {"shape": [100, 100], "dtype": "float32", "values": [0.0] * 256, "truncated": True}
    assert shown_value(tensor) == "float32 tensor of shape [100, 100]"


def test_nested_results_and_plain_values_are_shown():
    assert shown_value([{"k": {"shape": [], "dtype": "int64", "values": [3]}}, None]) == (
        "[{k: 3 (int64, shape [])}, None]"
    )


def test_the_failing_call_the_first_wrong_index_and_the_learners_lines_are_named():
    shown = {
        "args": {"x": 1},
        "calls": [{"call": "prefill"}, {"call": "decode_step"}],
        "call": 2,
        "expected": 1.0,
        "got": 2.0,
        "first_wrong_index": [0, 1],
        "frames": [{"line": 3, "function": "f", "code": "return x"}],
    }
    assert list(counterexample_lines(shown, " ")) == [
        " x = 1",
        " (call 2 of: prefill, decode_step)",
        " expected: 1.0",
        " got: 2.0",
        " first wrong at [0, 1]",
        " line 3, in f: return x",
    ]


def test_the_calls_that_the_failing_one_needs_are_shown_with_what_they_were_given():
    calls = [{"call": "Norm", "args": {"D": 3}}, {"call": "forward", "args": {"x": 1}}]
    shown = {"args": {"x": 1}, "calls": calls, "call": 2, "expected": 1.0, "got": 2.0}
    assert list(counterexample_lines(shown, " "))[:4] == [
        " x = 1",
        " (call 2 of: Norm, forward)",
        " call 1, Norm:",
        "   D = 3",
    ]
    assert "第 1 次调用 Norm：" in " ".join(counterexample_lines(shown, "", "zh"))
    many = {**shown, "calls": calls[:1] * 6 + calls[1:], "call": 7}
    assert not any("Norm:" in line for line in counterexample_lines(many, ""))


REPORT = {
    "file": "sdpa.py",
    "verdict": "accepted",
    "rung": "hardened",
    "checks": [
        {"name": "loads", "status": "pass", "required": True},
        {"name": "device", "status": "skipped", "required": True, "message": "cannot be proved"},
        {"name": "layout", "status": "skipped", "required": False, "message": "needs matches-reference"},
    ],
    "score": {"passed": 1, "total": 3},
    "seconds": 0.1,
    "seed": 0,
    "sandbox": [],
}


@pytest.mark.parametrize(("lang", "said"), [("en", "not proved: device"), ("zh", "未能验证的检查：device")])
def test_what_was_accepted_without_a_proof_is_said_under_the_verdict(lang, said):
    challenge = SimpleNamespace(title={"en": "Attention", "zh": "注意力"}, mistakes={})
    assert list(report_lines(REPORT, challenge, lang))[1].strip() == said
    whole = {**REPORT, "checks": REPORT["checks"][:1]}
    assert not any(said in line for line in report_lines(whole, challenge, lang))


@pytest.mark.parametrize(
    ("lang", "head", "next_step", "mark"),
    [
        ("en", "Attention: solved: right at the whiteboard (1 of 2 checks)", "to harden it: layout", "next  layout"),
        ("zh", "注意力：已解出：白板面试这样写就对了（2 项检查通过 1 项）", "要加固的：layout", "待加固  layout"),
    ],
)
def test_what_is_still_to_harden_is_told_as_the_next_step(lang, head, next_step, mark):
    challenge = SimpleNamespace(title={"en": "Attention", "zh": "注意力"}, mistakes={})
    layout = {"name": "layout", "status": "fail", "required": True, "rung": "hardened", "message": "wrong"}
    score = {"passed": 1, "total": 2}
    solved = {**REPORT, "rung": "solved", "checks": [REPORT["checks"][0], layout], "score": score}
    lines = list(report_lines(solved, challenge, lang))
    assert (lines[0], lines[1].strip()) == (head, next_step)
    assert any(line.strip().startswith(mark) for line in lines)
    assert not any("FAIL" in line or "失败" in line for line in lines)


def test_two_numbers_that_differ_are_printed_so_that_they_differ():
    tensors = [{"shape": [2], "dtype": "float64", "values": [0.25, value]} for value in (0.1234567, 0.1234569)]
    shown = {"args": {"x": 0.5}, "expected": tensors[0], "got": tensors[1], "first_wrong_index": [1]}
    assert list(counterexample_lines(shown, ""))[1:3] == [
        "expected: [0.25, 0.1234567] (float64, shape [2])",
        "got: [0.25, 0.1234569] (float64, shape [2])",
    ]


CHALLENGE = SimpleNamespace(title={"en": "SDPA", "zh": "注意力"}, mistakes={})


@pytest.mark.parametrize(("lang", "said"), [("en", "Two axes swapped."), ("zh", "有两个轴互换了。")])
def test_what_the_answers_have_in_common_is_said_in_the_learners_language(lang, said):
    diagnosis = [{"wrong": "transposed", "says": "Two axes swapped.", "says_zh": "有两个轴互换了。", "cards": []}]
    lines = "\n".join(report_lines({**REPORT, "diagnosis": diagnosis}, CHALLENGE, lang))
    assert said in lines and ("in common" if lang == "en" else "共同点") in lines


@pytest.mark.parametrize(("lang", "said"), [("en", "two mistakes at once"), ("zh", "两种错误同时出现")])
def test_two_mistakes_at_once_are_introduced_as_such(lang, said):
    one = {"wrong": "no-scale", "says": "No scale.", "cards": ["att-01"], "beside": "nan-rows"}
    other = {"wrong": "nan-rows", "says": "Rows of NaN.", "cards": [], "beside": "no-scale"}
    lines = list(report_lines({**REPORT, "diagnosis": [one, other]}, CHALLENGE, lang))
    places = [next(k for k, line in enumerate(lines) if text in line) for text in (said, "No scale.", "Rows of NaN.")]
    assert places == sorted(places) and said not in "\n".join(report_lines(REPORT, CHALLENGE, lang))


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
