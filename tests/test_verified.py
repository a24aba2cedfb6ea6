"""The fingerprint of a proved challenge changes with its rules and the judge's code, not with prose."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import verified
from verified import code, fingerprint

SDPA = Path(__file__).parents[1] / "impl" / "attention" / "sdpa"


def test_docstrings_comments_and_line_breaks_are_no_code():
    source = '"""Doc."""\nx = "#"  # gone\n\n# gone\ndef f():\n    """Says.\n\n    More."""\n    return x\n'
    assert code(source) == 'x="#"\ndeff():\n    returnx'
    assert code("f(\n    a,  # one\n    b,\n)\n") == code("f(a, b)\n") == "f(a,b)"
    assert code("if a:\n    b\n    c\n") != code("if a:\n    b\nc\n")


@pytest.mark.parametrize(
    ("file", "before", "after", "stays"),
    [
        ("challenge.yaml", "statement:", "statement:\n  # reworded", True),
        ("challenge.yaml", "level: 1", "level: 2", False),
        ("reference.py", "import math", "import math, os", False),
        ("reference.py", "import math", "import math  # first", True),
    ],
)
def test_a_changed_rule_asks_for_a_new_proof(tmp_path, file, before, after, stays):
    folder = tmp_path / "sdpa"
    shutil.copytree(SDPA, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert before in text
    (folder / file).write_text(text.replace(before, after, 1), encoding="utf-8")
    assert (fingerprint(folder) == fingerprint(SDPA)) is stays


def test_a_loosened_tolerance_asks_for_a_new_proof(monkeypatch, tmp_path):
    before = fingerprint(SDPA)
    shutil.copytree(verified.ROOT / "attncli" / "judge", tmp_path / "attncli" / "judge")
    shutil.copytree(verified.ROOT / "attncli" / "sandbox", tmp_path / "attncli" / "sandbox")
    shutil.copy(verified.ROOT / "constraints.txt", tmp_path)
    monkeypatch.setattr(verified, "ROOT", tmp_path)
    verified._judge.cache_clear()
    assert fingerprint(SDPA) == before
    file = tmp_path / "attncli" / "judge" / "compare.py"
    file.write_text(file.read_text(encoding="utf-8") + "\nLOOSER = 2\n", encoding="utf-8")
    verified._judge.cache_clear()
    assert fingerprint(SDPA) != before
    verified._judge.cache_clear()
