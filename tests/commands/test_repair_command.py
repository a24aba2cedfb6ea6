"""`attn start --repair`, and `attn grade` on its file, as used by people and scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attncli.bank.challenge_rules import load_repairs
from attncli.domain.challenge import planted

from .test_grade_command import SDPA, attn  # noqa: F401 - a fixture

pytestmark = pytest.mark.sandbox


def test_a_round_is_graded_bug_by_bug_and_counts_apart(attn, tmp_path):  # noqa: F811
    code, out, err = attn("start", "sdpa", "--repair", 3, "--dir", tmp_path)
    file = Path(out.strip())
    assert code == 0 and "3 bugs to find and fix" in err and f"attn grade sdpa {file}" in err
    assert "sdpa is not solved yet, and this file shows the reference" in err
    code, out, err = attn("grade", "sdpa", file, "--json")
    report = json.loads(out)
    names = [bug["wrong"] for bug in report["repaired"]["left"]]
    assert code == 1 and report["repaired"]["of"] == 3 and report["repaired"]["done"] == 0 and len(names) == 3
    assert all(bug["symptom"] and bug["symptom_zh"] for bug in report["repaired"]["left"])
    assert not {found["wrong"] for found in report["diagnosis"]} & set(names)
    reference = (SDPA / "reference.py").read_text(encoding="utf-8")
    repairs = {repair.wrong: repair for repair in load_repairs(SDPA)}
    file.write_text(planted(reference, [repairs[names[1]]]), encoding="utf-8")
    code, out, _ = attn("grade", "sdpa", file, "--lang", "en")
    assert code == 1 and "2 of 3 bugs fixed" in out and "Symptoms of the rest:" in out and names[1] not in out
    file.write_text(reference, encoding="utf-8")
    code, out, _ = attn("grade", "sdpa", file)
    assert code == 0 and "All 3 bugs fixed: this file counts as fixed" in out and "interviewers ask next" not in out
    _, listed, _ = attn("challenges", "--json")
    found = next(item for item in json.loads(listed) if item["id"] == "sdpa")
    assert (found["standing"], found["due"], found["fixed"]) == ("new", None, 1)
    _, listed, _ = attn("challenges")
    assert "fixed: 1" in next(line for line in listed.splitlines() if line.startswith("sdpa "))
    assert "undone: the repair of sdpa" in attn("undo")[1]


def test_an_unusable_round_exits_2_with_one_line(attn):  # noqa: F811
    for words, said in (
        (("sdpa", "--repair", 2, "--bug"), "--bug and --repair cannot be combined"),
        (("sdpa", "--seed", 2), "--seed chooses a repair round; add --repair N"),
        (("sdpa", "--repair", 0), "0 is not in the range 1<=x<=4"),
        (("sdpa", "--repair", 9), "9 is not in the range 1<=x<=4"),
        (("vector-add", "--repair", 2), "challenge vector-add has no repair round; use --bug"),
        (("spda", "--repair", 2), "spda"),
    ):
        code, out, err = attn("start", *words)
        assert (code, out) == (2, "") and said in err and len(err.splitlines()) == 1
