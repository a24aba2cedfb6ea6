"""Read the mistakes of wrong files on demand."""

from pathlib import Path

import pytest

from attncli.bank.mistakes import Mistakes

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
