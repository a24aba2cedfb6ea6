"""Reports and counterexamples: a lossless round trip through JSON, and their text in both languages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attncli.domain import grade_report, grade_report_text
from attncli.domain.counterexample_text import MOST_DIGITS, counterexample_lines, digits_apart, frame_lines
from attncli.domain.grade_report import CheckResult, Counterexample, GradeReport, ShownTensor, read, tensor_lines
from attncli.domain.grade_report_text import REACHED, REASONS, STATUSES, VERDICTS, headline, status_of, told, unproved
from attncli.domain.text import cells
from attncli.i18n import Lang, Localised

names = st.text("abcd", min_size=1, max_size=4)
tensors = st.builds(
    lambda shape, values, more: {"shape": shape, "dtype": "float32", "values": values, **more},
    st.lists(st.integers(0, 3), max_size=3),
    st.lists(st.floats(-9, 9) | st.just("nan") | st.booleans(), max_size=4),
    st.sampled_from([{}, {"truncated": True}, {"axes": ["T", ""]}]),
)
plain_values = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | names
values = st.recursive(
    plain_values | tensors, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
)
frames = st.fixed_dictionaries({"line": st.integers(1, 99), "function": names, "code": names})
skipped = st.just({"name": "device", "status": "skipped", "required": False, "message": "needs stable"})
CONTRACT = (
    "exception timeout memory exited crashed output too-large refused protocol shape dtype values not-finite gradient "
    "nondeterministic depends-on-earlier-calls forbidden growth mutated aliased missing-entry-point"
).split()
SHOWN = {"shape": [2, 1], "dtype": "float32", "values": [0.5, 2.0]}
OUTER = grade_report.CodeLine(9, "sdpa", "return a(q)")
INNER = grade_report.CodeLine(3, "a", "return b(x)\x1b[2J")
entries = st.floats(-1e6, 1e6)


def test_the_first_wrong_place_has_the_names_of_what_was_expected() -> None:
    named, half = (ShownTensor((2, 3), "float32", axes=axes) for axes in (("T", "d"), ("", "d")))
    unnamed = [ShownTensor((2, 3), "float32"), ShownTensor((), "float32", axes=("T",)), 0.5, None]
    for expected, says in ((named, "[T=1, d=0]"), (half, "[1, d=0]"), *((one, "[1, 0]") for one in unnamed)):
        assert Counterexample(expected=expected, first_wrong_index=(1, 0)).first_wrong == says
    assert Counterexample().first_wrong == ""


def test_a_dict_of_the_submissions_own_is_no_tensor() -> None:
    more = {"shape": [2], "dtype": "x", "mine": 1}
    for own in (more, {"shape": [2], "dtype": 3}, {"shape": [-1], "dtype": "x"}, {"shape": "2", "dtype": "x"}):
        assert read(Counterexample, {"got": own}).got == own


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for any subset of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


counterexamples = some(
    args=st.dictionaries(names, values, max_size=3),
    calls=st.lists(
        st.fixed_dictionaries({"call": names, "args": st.dictionaries(names, values)}), min_size=1, max_size=3
    ),
    call=st.integers(1, 3),
    profile=names,
    edge_case=names,
    edge_case_zh=names,
    expected=values,
    got=values,
    first_wrong_index=st.lists(st.integers(0, 3), max_size=3),
    frames=st.lists(frames, min_size=1, max_size=2),
    truncated=st.just(True),
)
failed_checks = st.builds(
    lambda told, more: (
        {"name": "stable", "status": "fail", "required": True, "examples": 3, "seconds": 0.5} | told | more
    ),
    st.fixed_dictionaries({"rung": st.sampled_from(["solved", "hardened"]), "reason": names, "message": names}),
    some(message_zh=st.text("甲乙", min_size=1), counterexample=counterexamples),
)
found = st.builds(
    lambda told, more: told | more,
    st.fixed_dictionaries({"wrong": names, "says": names, "cards": st.lists(names, max_size=2)}),
    some(says_zh=names, beside=names),
)


@given(
    st.lists(failed_checks | skipped, max_size=3),
    st.lists(found, max_size=2),
    some(printed=names, error=names),
    st.sampled_from([{}, {"device_note": "no GPU"}, {"device_note": "no GPU", "device_note_zh": "没有 GPU"}]),
)
def test_a_report_is_the_same_after_json(checks: list[Any], diagnosis: list[Any], more: Any, note: Any) -> None:
    document: dict[str, Any] = {"challenge": "sdpa", "file": "sdpa.py", "verdict": "rejected", "rung": "solved"}
    document |= {"score": {"passed": 0, "total": sum(check["required"] for check in checks)}, "checks": checks}
    document |= {"diagnosis": diagnosis, "seconds": 0.25, "seed": 7, "sandbox": ["process"], "device": "cpu"}
    document |= more | note
    report = read(GradeReport, document)
    assert grade_report.report_document(report) == document
    assert read(GradeReport, grade_report.report_document(report)) == report


def tensor(shape: list[int], values: list[Any], dtype: str = "float32") -> ShownTensor:
    return ShownTensor(tuple(shape), dtype, tuple(values))


def test_a_tensor_is_a_grid_under_its_shape_and_axes_a_mask_one_of_signs_and_a_large_one_is_cut() -> None:
    assert tensor_lines(tensor([2, 2], [1.0, 0.5, -2.0, 0.0])) == ["[2, 2] float32", "  1  0.5", " -2    0"]
    assert tensor_lines(tensor([2, 1, 2], [1, 0, 1, 0])) == ["[2, 1, 2] float32", "[0] 1  0", "[1] 1  0"]
    known = replace(tensor([1, 2], [1, 2]), axes=("T", "d"))
    assert tensor_lines(known)[0] == "[T=1, d=2] float32"
    assert tensor_lines(replace(known, axes=("", "d")))[0] == "[1, d=2] float32"
    lines = tensor_lines(tensor([3], [1.0, 2.0, "nan"]), tensor([3], [1.0, 2.5, "nan"]))
    assert lines[1].split() == ["1", "2*", "nan"], "differences are starred"
    mask = tensor([2, 3], [True, False, True, False, False, True], "bool")
    assert tensor_lines(mask) == ["[2, 3] bool, 1 = True", "1 · 1", "· · 1"]
    other = tensor([2, 3], [True, True, True, False, False, True], "bool")
    assert tensor_lines(mask, other)[1:] == ["1  ·* 1 ", "·  ·  1 "]
    assert tensor_lines(tensor([2], [True, False], "bool")) == ["[2] bool", " True  False"]
    assert tensor_lines(tensor([], [3.25])) == ["[] float32", "3.25"]
    assert tensor_lines(tensor([0, 3], [])) == ["[0, 3] float32", "(empty)"]
    large = tensor_lines(tensor([40, 40], [0.0] * 1600))
    many = tensor_lines(replace(tensor([10**9, 2], [0.0] * 256), truncated=True))
    assert len(many) == 14 and tensor_lines(ShownTensor((9,), "float32", device="meta")) == ["[9] float32"]
    assert len(large) <= 14 and large[-1] == "…" and large[1].endswith("…")


def test_other_values_are_written_as_python_would_and_numbers_short() -> None:
    assert grade_report.named_lines("mask", None) == ["mask = None"]
    assert grade_report.named_lines("mode", "half") == ["mode = half"]
    assert grade_report.named_lines("kv", {"k": tensor([1], [1]), "n": 2})[0].startswith("kv = k [1]")
    assert grade_report.value_lines([tensor([1], [1]), tensor([1], [2])])[0].startswith("[0] [1]")
    short = {1.0: "1", 0.333333333: "0.3333", 1e-9: "1e-09", float("inf"): "inf", 123456789.5: "1.235e+08"}
    assert [grade_report.number_text(number) for number in (*short, True)] == [*short.values(), "True"]


@given(st.lists(st.lists(st.text("ab中", max_size=12), min_size=1, max_size=4), max_size=6), st.integers(26, 80))
def test_blocks_beside_each_other_fit_the_width_and_lose_nothing(blocks: list[list[str]], width: int) -> None:
    lines = grade_report.side_by_side(blocks, width)
    assert all(cell_len(line) <= width for line in lines)
    assert sorted("".join(lines).replace(" ", "")) == sorted("".join(map("".join, blocks)))


def test_every_reason_of_the_contract_has_words_of_its_own_in_both_languages() -> None:
    assert sorted(REASONS) == sorted(CONTRACT)
    for table in (REASONS, STATUSES, VERDICTS, REACHED):
        for lang in ("en", "zh"):
            assert len({text[lang] for text in table.values()}) == len(table)
        assert all(re.search("[\u4e00-\u9fff]", text.zh) for text in table.values())


def failed(reason: str, message: str, chinese: str = "") -> CheckResult:
    return CheckResult(name="pure", status="fail", reason=reason, message=Localised(message, chinese or message))


def test_a_failed_check_begins_with_its_reason_once_and_the_edge_case_stands_apart() -> None:
    message = "one key: its value is the answer: changed its argument q in place"
    document: dict[str, Any] = {"name": "pure", "status": "fail", "reason": "mutated", "message": message}
    edge_case = {"edge_case": "one key: its value is the answer"}
    document |= {"message_zh": "原地修改了参数 q", "counterexample": edge_case}
    check = read(CheckResult, document)
    assert told(check, "zh") == "［one key: its value is the answer］改动了输入：原地修改了参数 q"
    assert told(check, "en") == document["message"]
    document["counterexample"]["edge_case_zh"] = "一个 key：它的 value 就是答案"
    assert told(read(CheckResult, document), "zh") == "［一个 key：它的 value 就是答案］改动了输入：原地修改了参数 q"
    assert told(CheckResult(name="loads", status="pass"), "zh") == ""
    check = replace(failed("exception", "one: ValueError: no"), counterexample=Counterexample(edge_case="one"))
    assert told(check, "zh") == "［one］抛出异常：ValueError: no", "what has no Chinese is said as it is"
    check = failed("values", "an unfair coin", "硬币\x1b[2J不公平")
    assert (told(check, "zh"), told(check, "en")) == ("数值不对：硬币不公平", "an unfair coin")
    said = "应抛出 ValueError，却返回了：形状 [2, 1] 的 bool 张量"
    assert told(failed("exception", "returned a bool tensor of shape [2, 1]", said), "zh") == said, "nothing was raised"


@given(st.text())
def test_no_message_breaks_the_translation_or_reaches_the_terminal_raw(message: str) -> None:
    for lang in ("en", "zh"):
        said = told(failed("exception", f"\x1b[2J{message}"), lang)
        assert "\x1b" not in said and "\n" not in said


def report(rung: str, *checks: dict) -> GradeReport:
    verdict = "accepted" if rung != "none" else "rejected"
    return read(GradeReport, {"challenge": "c", "verdict": verdict, "rung": rung, "checks": list(checks)})


def test_what_is_read_first_is_what_was_reached() -> None:
    for found, en, zh in (
        (report("none"), "rejected", "未通过"),
        (report("solved"), "solved: correct at the whiteboard", "已解出：达到白板面试的要求"),
        (report("hardened"), "hardened: ready for production", "已加固：达到生产环境的要求"),
        (replace(report("solved"), verdict="rejected"), "solved, but not hardened", "已解出，但未加固"),
    ):
        assert (headline(found, "en"), headline(found, "zh")) == (en, zh)
    assert headline(replace(report("none"), verdict="error"), "en") == "the judge failed"


def test_what_fails_on_the_second_rung_alone_is_the_next_step() -> None:
    first = {"name": "gradients", "status": "fail", "rung": "solved"}
    second = {"name": "layout", "status": "fail", "rung": "hardened"}
    badge = {"name": "device", "status": "fail", "rung": "hardened", "required": False}
    statuses = [status_of(read(CheckResult, each)) for each in (first, second, {**second, "status": "pass"})]
    assert statuses == ["fail", "harden", "pass"]
    assert grade_report_text.to_harden(report("solved", second, badge)) == ["layout"]
    skipped = {"name": "device", "status": "skipped", "required": True}
    assert unproved(report("hardened", skipped)) == ["device"] and unproved(report("solved", skipped)) == []


def lines_of(shown: dict[str, Any], lang: Lang = "en", width: int = 60) -> list[str]:
    return [line for _, line in counterexample_lines(read(Counterexample, shown), width, lang)]


def test_the_failing_call_the_first_wrong_index_and_the_learners_lines_are_named() -> None:
    shown: dict[str, Any] = {"args": {"x": 1}, "calls": [{"call": "prefill"}, {"call": "decode_step"}], "call": 2}
    shown |= {"expected": {**SHOWN, "axes": ["", "d"]}, "got": {**SHOWN, "values": [0.5, 3.0]}}
    shown |= {"first_wrong_index": [1, 0], "frames": [{"line": 3, "function": "f", "code": "return x"}]}
    assert lines_of(shown) == [
        "Arguments",
        "x = 1",
        "call 2 of: 1. prefill, 2. decode_step",
        "",
        "expected            actual",
        "[2, d=1] float32    [2, 1] float32",
        "0.5                 0.5",
        "  2                   3*",
        "                    * differs",
        "first difference at [1, d=0]",
        "line 3, in f: return x",
    ]
    assert "None" in "".join(lines_of({"args": {}, "expected": SHOWN, "got": None})), "None is an answer"
    assert lines_of({"args": {}}) == lines_of({"frames": []}) == []


def test_the_calls_that_the_failing_one_needs_are_shown_with_what_they_were_given() -> None:
    calls = [{"call": "Norm", "args": {"D": 3}}, {"call": "load", "args": {"w": SHOWN}}, {"call": "forward"}]
    shown = {"args": {"x": 1}, "calls": calls, "call": 3, "expected": 1.0, "got": 2.0}
    assert lines_of(shown)[1:4] == ["x = 1", "call 3 of: 1. Norm(D=3), 2. load, 3. forward", "call 2, load:"]
    assert "第 2 次调用 load：" in lines_of(shown, "zh")
    many = {**shown, "calls": calls[:1] * 6 + calls[1:], "call": 8}
    assert not any("load:" in line for line in lines_of(many))
    assert lines_of(many)[2] == "call 8 of: 1–6. Norm(D=3), 7. load, 8. forward"


def test_two_numbers_that_differ_are_printed_so_that_they_differ() -> None:
    tensors = [{"shape": [2], "dtype": "float64", "values": [0.25, value]} for value in (0.1234567, 0.1234569)]
    shown = {"args": {"x": 0.5}, "expected": tensors[0], "got": tensors[1], "first_wrong_index": [1]}
    text = "\n".join(lines_of(shown))
    assert "0.1234567" in text and "0.1234569*" in text


@given(st.lists(st.floats(-9, 9), min_size=4, max_size=4), st.sampled_from(["en", "zh"]), st.integers(40, 120))
def test_what_was_due_and_what_came_fit_the_width(values: list[float], lang: Lang, width: int) -> None:
    tensor = {"shape": [2, 2], "dtype": "float32", "values": values}
    shown = {"args": {"q": tensor, "k": tensor}, "expected": tensor, "got": {**tensor, "values": [0.0] * 4}}
    assert all(cells(line) <= width for line in lines_of(shown, lang, width))


def test_a_frame_is_file_line_function_and_code_and_a_recursion_is_counted() -> None:
    frames: dict[tuple[Lang, str], list[str]] = {
        ("en", "sdpa.py"): ["sdpa.py:9, in sdpa: return a(q)", "sdpa.py:3, in a: return b(x)"],
        ("en", ""): ["line 9, in sdpa: return a(q)", "line 3, in a: return b(x)"],
        ("zh", "sdpa.py"): ["sdpa.py:9，sdpa 内：return a(q)", "sdpa.py:3，a 内：return b(x)"],
        ("zh", ""): ["第 9 行，sdpa 内：return a(q)", "第 3 行，a 内：return b(x)"],
    }
    assert {(lang, file): list(frame_lines([OUTER, INNER], file, lang)) for lang, file in frames} == frames
    recursion = [grade_report.CodeLine(1, "<module>", ""), *[OUTER] * 20]
    said = ["x.py:1, in <module>:", "x.py:9, in sdpa: return a(q)", "… repeated 19×"]
    assert list(frame_lines(recursion, "x.py", "en")) == said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_an_error_that_is_due_the_kind_is_shown_and_of_the_one_that_came_the_message_too(lang: Lang) -> None:
    due = {"raised": "ValueError", "text": "the reference's own words"}
    shown = "\n".join(lines_of({"args": {}, "expected": due, "got": {"raised": "TypeError", "text": "mine"}}, lang))
    assert "ValueError" in shown and "own words" not in shown and "mine" in shown


def differing(expected: float, actual: float, place: int = 1) -> Counterexample:
    tensors = [ShownTensor((1, 2), "float64", (0.5, value)) for value in (expected, actual)]
    return Counterexample(expected=tensors[0], got=tensors[1], first_wrong_index=(0, place))


@given(due=entries, apart=st.floats(-1e-3, 1e-3) | entries)
def test_the_first_wrong_entry_is_seen_to_be_wrong(due: float, apart: float) -> None:
    came = due + apart
    digits = digits_apart(differing(due, came))
    assert grade_report.DIGITS <= digits <= MOST_DIGITS
    if due != came:
        assert f"{due:.{digits}g}" != f"{came:.{digits}g}"
        assert digits == grade_report.DIGITS or f"{due:.{digits - 1}g}" == f"{came:.{digits - 1}g}"


def test_elsewhere_the_usual_number_is_enough() -> None:
    close, apart = differing(1.0, 1.0 + 1e-9), differing(1.0, 2.0)
    shown = [Counterexample(), Counterexample(expected=1.0, got=1.00000001), differing(1.0, 1.0 + 1e-9, place=0)]
    shown += [replace(close, first_wrong_index=index) for index in (None, (0,), (5, 5))]
    shown += [replace(apart, got=ShownTensor((1, 2), "float32", ("nan", "nan")))]
    shown += [replace(apart, got=ShownTensor((1, 2), "float32", device="meta"))]
    assert {digits_apart(one) for one in shown} == {grade_report.DIGITS}
