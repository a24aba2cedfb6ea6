"""An exception is shown with the learner's file, line and code, and a recursion only once."""

from __future__ import annotations

import pytest

from attncli.domain.report import Frame
from attncli.words.counterexample_lines import frame_lines

OUTER = Frame(9, "sdpa", "return a(q)")
INNER = Frame(3, "a", "return b(x)\x1b[2J")


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
    assert list(frame_lines(frames, "x.py", "en"))[1:] == ["x.py:9, in sdpa: return a(q)", "… and 19 times more"]


def test_a_frame_without_code_still_names_its_line():
    assert list(frame_lines([Frame(1, "<module>", "")], "x.py", "en")) == ["x.py:1, in <module>:"]
