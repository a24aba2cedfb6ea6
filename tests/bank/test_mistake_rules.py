"""Read the mistakes of wrong files on demand, and report each error in their docstrings with its line."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from attncli.bank.challenge_rules import docstring_faults
from attncli.bank.mistakes import Mistakes
from attncli.i18n import Localised, quoted

GOOD = '''"""Forgets the scale.
忘了缩放。

symptom: Weights too sharp.
症状：权重太尖。

cards: att-01
rung: solved
"""
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "no-scale.py").write_text(GOOD, encoding="utf-8")
    return tmp_path


def test_a_file_is_read_when_its_mistake_is_asked_for(folder: Path) -> None:
    mistakes = Mistakes(folder)
    assert (list(mistakes), len(mistakes)) == (["no-scale"], 1)
    (folder / "wrong" / "no-scale.py").write_text(GOOD.replace("Forgets", "Leaves out"), encoding="utf-8")
    assert mistakes["no-scale"].says.en == "Leaves out the scale."


def test_only_readable_files_of_the_folder_tell_something(folder: Path) -> None:
    (folder / "reference.py").write_text(GOOD, encoding="utf-8")
    assert Mistakes(folder).get("../reference") is None
    for content in (b"def (", b"\xff", b"x = '\x00'", b""):
        (folder / "wrong" / "no-scale.py").write_bytes(content)
        assert Mistakes(folder)["no-scale"].says.en == ""


def no_fault(card: str) -> Iterator[Localised]:
    if card != "att-01":
        yield quoted(f"there is no card {card}")


def faults(text: str) -> list[tuple[int, str]]:
    return [(line, message.en) for line, message in docstring_faults(ast.parse(text), no_fault)]


def test_each_fault_of_a_docstring_is_told_with_its_line() -> None:
    assert faults(GOOD) == []
    assert faults("# a remark\n" + GOOD) == []
    for old, new, line, message in (
        ("Forgets the scale.\n", "\n", 1, "the docstring has no summary; describe the mistake in its first line"),
        ("忘了缩放。\n", "", 1, "the docstring has no Chinese summary; describe the mistake in Chinese"),
        ("symptom: Weights too sharp.\n", "", 1, "the docstring has no symptom; describe the symptom"),
        ("症状：权重太尖。\n", "", 1, "the docstring has no 症状; describe the symptom in Chinese as 症状：…"),
        ("症状：权重太尖。", "症状：too sharp", 5, "症状 has no Chinese text; add it"),
        ("cards: att-01\n", "", 1, "the docstring has no cards; list the cards that explain it"),
        ("cards: att-01\n", "cards:\n", 7, "the docstring has no cards; list the cards that explain it"),
        ("cards: att-01", "cards: att-01, att-77", 7, "there is no card att-77"),
        ("rung: solved\n", "", 1, "the docstring has no rung; write the rung that it must fail"),
        ("rung: solved", "rung: solvd", 8, 'unknown rung "solvd"; did you mean "solved"?'),
        ("rung: solved", "rung: none", 8, 'unknown rung "none"; use one of solved, hardened'),
        ("rung: solved", "rung: solved\nnote: x", 9, 'unknown field "note"; use one of symptom, 症状'),
        ("rung: solved", "rung: solved\nrung: solved", 9, '"rung" is given twice; keep one'),
        ("Forgets the scale.", "Forgets \u202e it.", 1, "hidden character U+202E (right-to-left override)"),
        ("权重太尖", r"权重 $\\frac{1}$", 5, r'formula "\frac{1}" is not valid LaTeX'),
        ("Forgets the scale.", "Forgets " * 18, 1, "this line has 144 characters; the limit is 140; break it"),
    ):
        assert old in GOOD
        ((found, said),) = faults(GOOD.replace(old, new))
        assert found == line
        assert said.startswith(message)
    assert faults(GOOD.replace("symptom", "sympton"))[0] == (4, 'unknown field "sympton"; did you mean "symptom"?')
    assert len(faults("x = 1\n")) == 6
