import os
from pathlib import Path

import pytest

from attncli.bank.problems import Problem, did_you_mean, shown, shown_path
from attncli.i18n import NOTHING, Localised, quoted


def test_a_problem_reads_as_file_line_column_message_on_one_line() -> None:
    assert str(Problem("att.yaml", 3, 7, quoted("wrong"))) == "att.yaml:3:7: wrong"
    text = Problem("att.yaml", 3, 7, Localised("a\u202eb", "中\n文")).text
    assert (text["en"], text["zh"]) == ("att.yaml:3:7: a\ufffdb", "att.yaml:3:7: 中\ufffd文")


def test_values_are_shown_on_one_line_and_not_too_long() -> None:
    assert shown("a\nb\t c") == '"a b c"'
    assert len(shown("x" * 1000)) == 62
    assert shown("\x1b[2J\u202e") == '"\ufffd[2J\ufffd"'


def test_paths_below_the_working_folder_are_shown_from_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(tmp_path / "a" / "b.yaml") == os.path.join("a", "b.yaml")  # noqa: PTH118
    assert shown_path(tmp_path.parent / "b.yaml") == str(tmp_path.parent / "b.yaml")
    assert shown_path(Path("new\nline\udcff.yaml")) == "new\ufffdline\ufffd.yaml"


def test_only_close_words_are_suggested() -> None:
    assert did_you_mean("levle", ["level", "kind"]).en == 'did you mean "level"?'
    assert did_you_mean("zzz", ["level", "kind"]) == NOTHING
