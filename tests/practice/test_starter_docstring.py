"""Write statements as docstrings: prose is wrapped, and all else stays unchanged."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.text import cells
from attncli.practice.start import docstring, without_docstring


def lines_of(text: str) -> list[str]:
    value = ast.literal_eval(docstring(text))
    assert isinstance(value, str)
    return value.splitlines()


def test_lines_of_one_paragraph_are_filled_anew_in_both_languages() -> None:
    assert lines_of("one\ntwo\n\nthree") == ["one two", "", "three"]
    assert lines_of("注意力，\n一次") == ["注意力，一次"]
    assert lines_of("注意力\nsdpa\n一次") == ["注意力 sdpa 一次"]


def test_items_of_a_list_stay_apart_and_long_ones_hang_below_their_bullet() -> None:
    assert lines_of("All:\n- one\n  and a half\n- two\n1. three") == ["All:", "- one and a half", "- two", "1. three"]
    lines = lines_of("- " + "word " * 60 + "\n- " + "注意力，" * 60)
    assert len(lines) > 4 and all(line[:2] in ("- ", "  ") and cells(line) <= 110 for line in lines)
    assert [line[:2] for line in lines].count("- ") == 2


def test_code_tables_headings_and_formulas_stay_as_they_are() -> None:
    text = "```\n1 1 0\n\n1 1 1\n```\n## Title\n| a | b |\n| --- | --- |\n$$\nx\n= y\n$$\n$$z$$\nend\nof it"
    assert lines_of(text) == [*text.splitlines()[:-2], "end of it"]


def test_no_line_begins_with_a_chinese_comma_or_ends_with_an_opening_bracket() -> None:
    lines = lines_of("`torch`、" * 40 + "注意力（`d`）" * 40 + "（见）" * 50)
    assert len(lines) > 6
    assert not any(line.startswith(("、", "）")) or line.endswith("（") for line in lines)


@given(st.text(alphabet="ab \"\\'\n一，（`-$|# ", max_size=60))
def test_any_text_is_a_docstring_with_all_its_letters(text: str) -> None:
    kept = "".join("\n".join(lines_of(text)).split())
    assert kept == "".join(text.replace('"""', "'''").split())


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('"""What is\nasked."""\n\nimport torch\n', "import torch\n"),
        ('# mine\n"""What is asked."""\r\nx = 1', "x = 1"),
        ('"""One"""; x = 1\n', '"""One"""; x = 1\n'),
        ('x = 1\n"""no head"""\n', 'x = 1\n"""no head"""\n'),
        ('"""a\u2028b"""\nx = 1\n', "x = 1\n"),
        ("", ""),
        ('"""alone"""', ""),
    ],
)
def test_a_file_without_its_docstring_is_its_code(source: str, code: str) -> None:
    assert without_docstring(source) == code
