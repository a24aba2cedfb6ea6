from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attncli.__main__ import main
from attncli.bank import check
from attncli.bank.check import Report
from attncli.bank.problems import Problem
from attncli.i18n import quoted

from .conftest import Attn

GOOD = """\
topic: mine
cards:
  - id: mine-01
    kind: cloze
    level: screen
    question: {en: The base is ____., zh: 底数是 ____。}
    blanks: [{answer: ten thousand}]
    explain: {en: It is., zh: 就是。}
"""
BAD = GOOD.replace("level: screen", "level: easy").replace("answer: ten", "anwser: ten")
HOSTILE = [
    *(b"[" * 1_000_000, b"\x00" * 100, b"\xff\xfe" + "topic: a".encode("utf-16-le"), b"- " * 500_000, b""),
    *(b"a: '" + b"x" * 3_000_000, b"a: !!python/object/apply:os.system ['true']\n"),
    b"a: &a [x]\n" + b"".join(b"b%d: &b%d [*a, *a, *a]\n" % (n, n) for n in range(50)),
]


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_each_problem_is_a_line_and_json_is_one_document(attn: Attn, home: Path, bank: Path) -> None:
    bank.write_text(BAD, encoding="utf-8")
    done = attn("bank", "check", bank)
    assert [line.split(": ")[0] for line in done.out.splitlines()] == [f"{bank}:5:12", f"{bank}:7:15"]
    assert (done.code, done.line) == (1, "attn: 2 problems in 1 file; fix them, then run attn bank check again")
    done = attn("bank", "check", "--json", bank)
    assert (done.code, done.json["cards"], done.json["notes"]) == (1, 0, [])
    assert [problem["line"] for problem in done.json["problems"]] == [5, 7]
    assert done.json["problems"][0].keys() == {"file", "line", "column", "message"}
    done = attn("bank", "check", f"{bank}.none")
    assert (done.code, done.out) == (2, "") and done.line.startswith("attn: there is no ")
    (home / "banks").mkdir(parents=True)
    bank.rename(home / "banks" / "mine.yaml")
    done = attn("bank", "check")
    assert done.code == 1 and f"{home}/banks/mine.yaml:5:12: " in done.out, "without a path, own banks are checked"


def test_a_good_bank_has_nothing_on_stdout_and_notes_are_grouped(bank: Path, monkeypatch: Any, capsys: Any) -> None:
    assert main(["bank", "check", str(bank)]) == 0
    assert capsys.readouterr() == ("", "1 card in 1 file: no problems\n")
    notes = tuple(Problem(str(bank), line, 12, quoted('"obviously" says nothing; remove it')) for line in (5, 12))
    monkeypatch.setattr(check, "check", lambda *given: Report((), notes, 2, 1))
    assert main(["bank", "check", str(bank)]) == 0
    out, err = capsys.readouterr()
    first, last = err.splitlines()
    assert first == f'note: {bank}:5:12: "obviously" says nothing; remove it (and 1 more: {bank}:12:12)'
    assert (out, last) == ("", "2 cards in 1 file: no problems; 2 notes")


def test_hostile_files_end_in_messages(tmp_path: Path) -> None:
    for number, data in enumerate(HOSTILE):
        (tmp_path / f"a{number}.yaml").write_bytes(data)
    command = [sys.executable, "-m", "attncli", "bank", "check", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert done.returncode == 1
    for number in range(len(HOSTILE)):
        assert done.stdout.count(b"a%d.yaml:" % number) >= 1, number
    assert b"Traceback" not in done.stdout + done.stderr
    assert done.stderr.count(b"\n") == 1
