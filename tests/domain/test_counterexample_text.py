"""Render counterexamples as text: arguments, calls, expected and actual values, positions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.counterexample_text import MOST_DIGITS, counterexample_lines, digits_apart, frame_lines
from attncli.domain.grade_report import DIGITS, CodeLine, Counterexample, ShownTensor, read
from attncli.domain.text import cells
from attncli.i18n import Lang

TENSOR = {"shape": [2, 1], "dtype": "float32", "values": [0.5, 2.0]}


def lines_of(shown: dict[str, Any], lang: Lang = "en", width: int = 60) -> list[str]:
    return [line for _, line in counterexample_lines(read(Counterexample, shown), width, lang)]


def test_the_failing_call_the_first_wrong_index_and_the_learners_lines_are_named() -> None:
    shown = {
        "args": {"x": 1},
        "calls": [{"call": "prefill"}, {"call": "decode_step"}],
        "call": 2,
        "expected": {**TENSOR, "axes": ["", "d"]},
        "got": {**TENSOR, "values": [0.5, 3.0]},
        "first_wrong_index": [1, 0],
        "frames": [{"line": 3, "function": "f", "code": "return x"}],
    }
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


def test_none_is_an_answer_and_what_is_not_told_is_not_shown() -> None:
    assert "None" in "".join(lines_of({"args": {}, "expected": TENSOR, "got": None}))
    assert lines_of({"args": {}}) == lines_of({"frames": []}) == []


def test_the_calls_that_the_failing_one_needs_are_shown_with_what_they_were_given() -> None:
    calls = [{"call": "Norm", "args": {"D": 3}}, {"call": "load", "args": {"w": TENSOR}}, {"call": "forward"}]
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


OUTER = CodeLine(9, "sdpa", "return a(q)")
INNER = CodeLine(3, "a", "return b(x)\x1b[2J")


@pytest.mark.parametrize(
    ("lang", "file", "said"),
    [
        ("en", "sdpa.py", ["sdpa.py:9, in sdpa: return a(q)", "sdpa.py:3, in a: return b(x)"]),
        ("en", "", ["line 9, in sdpa: return a(q)", "line 3, in a: return b(x)"]),
        ("zh", "sdpa.py", ["sdpa.py:9，sdpa 内：return a(q)", "sdpa.py:3，a 内：return b(x)"]),
        ("zh", "", ["第 9 行，sdpa 内：return a(q)", "第 3 行，a 内：return b(x)"]),
    ],
)
def test_a_frame_is_file_line_function_and_code(lang, file, said):
    assert list(frame_lines([OUTER, INNER], file, lang)) == said


def test_a_recursion_is_told_once_and_counted():
    frames = [INNER, *[OUTER] * 20]
    assert list(frame_lines(frames, "x.py", "en"))[1:] == ["x.py:9, in sdpa: return a(q)", "… repeated 19×"]


def test_a_frame_without_code_still_names_its_line():
    assert list(frame_lines([CodeLine(1, "<module>", "")], "x.py", "en")) == ["x.py:1, in <module>:"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_of_an_error_that_is_due_the_kind_is_shown_and_of_the_one_that_came_the_message_too(lang: Lang) -> None:
    due = {"raised": "ValueError", "text": "the reference's own words"}
    shown = "\n".join(lines_of({"args": {}, "expected": due, "got": {"raised": "TypeError", "text": "mine"}}, lang))
    assert "ValueError" in shown and "own words" not in shown and "mine" in shown


numbers = st.floats(-1e6, 1e6)


def differing(expected: float, actual: float, place: int = 1) -> Counterexample:
    tensors = [ShownTensor((1, 2), "float64", (0.5, value)) for value in (expected, actual)]
    return Counterexample(expected=tensors[0], got=tensors[1], first_wrong_index=(0, place))


@given(due=numbers, apart=st.floats(-1e-3, 1e-3) | numbers)
def test_the_first_wrong_entry_is_seen_to_be_wrong(due: float, apart: float) -> None:
    came = due + apart
    digits = digits_apart(differing(due, came))
    assert DIGITS <= digits <= MOST_DIGITS
    if due != came:
        assert f"{due:.{digits}g}" != f"{came:.{digits}g}"
        assert digits == DIGITS or f"{due:.{digits - 1}g}" == f"{came:.{digits - 1}g}"


@pytest.mark.parametrize(
    "what",
    [
        Counterexample(),
        Counterexample(expected=1.0, got=1.00000001),
        replace(differing(1.0, 1.0 + 1e-9), first_wrong_index=None),
        replace(differing(1.0, 1.0 + 1e-9), first_wrong_index=(0,)),
        replace(differing(1.0, 1.0 + 1e-9), first_wrong_index=(5, 5)),
        differing(1.0, 1.0 + 1e-9, place=0),
        replace(differing(1.0, 2.0), got=ShownTensor((1, 2), "float32", ("nan", "nan"))),
        replace(differing(1.0, 2.0), got=ShownTensor((1, 2), "float32", device="meta")),
    ],
)
def test_elsewhere_the_usual_number_is_enough(what: Counterexample) -> None:
    assert digits_apart(what) == DIGITS
