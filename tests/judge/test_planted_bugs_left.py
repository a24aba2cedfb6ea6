"""Find from the answers which planted bugs are left; a bug that hides another is found."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from attncli.domain.challenge import Repair
from attncli.judge.client import GradeOptions
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.repairs import PlantedFiles, planted_surprises, probes, undistinguished, with_repairs
from attncli.judge.submission import Budget, Submission
from in_process import InProcessWorker, write_challenge

REFERENCE = """
def scaled_sum(x, weight, scale=2.0):
    shifted = x + 1.0
    weighted = shifted * weight
    total = weighted.sum(-1)
    return total * scale
"""
REPAIRS = [
    Repair("no-shift", "shifted = x + 1.0", "shifted = x"),
    Repair("squared", "weighted = shifted * weight", "weighted = shifted * weight * weight"),
    Repair("mean", "total = weighted.sum(-1)", "total = weighted.mean(-1)"),
    Repair("no-scale", "return total * scale", "return total"),
]
SYMPTOM = '"""{name}.\n{name}。\n\nsymptom: shows as {name}.\n症状：表现为 {name}。\n\nrung: solved\n"""\n{code}'


def with_bugs(*names: str) -> str:
    source = REFERENCE
    for repair in REPAIRS:
        source = source.replace(repair.find, repair.replace) if repair.wrong in names else source
    return source


@pytest.fixture
def folder(tmp_path: Path):
    folder = write_challenge(tmp_path)
    (tmp_path / "reference.py").write_text(REFERENCE)
    for old in (tmp_path / "wrong").glob("*.py"):
        old.unlink()
    for repair in REPAIRS:
        text = SYMPTOM.format(name=repair.wrong, code=with_bugs(repair.wrong))
        (tmp_path / "wrong" / f"{repair.wrong}.py").write_text(text)
    return folder


def submission(folder, source: str) -> Submission:
    return Submission(source.encode(), "file.py", folder.entry, InProcessWorker, Budget(60))


def graded(folder, source: str, bugs=tuple(repair.wrong for repair in REPAIRS), repairs=REPAIRS):
    exam = folder.__dict__.setdefault("exam", Exam(folder, 0))
    grading = Grading(exam, submission(folder, source), GradeOptions())
    return with_repairs(grading, grading.run(), bugs, repairs)


@pytest.mark.slow
def test_whichever_are_mended_the_others_are_told_with_their_symptoms(folder):
    for left in (chosen for count in range(5) for chosen in combinations([repair.wrong for repair in REPAIRS], count)):
        report = graded(folder, with_bugs(*left))
        assert (report.repaired.of, report.repaired.done) == (4, 4 - len(left))
        assert [bug.wrong for bug in report.repaired.left] == list(left)
        assert all(bug.symptom.en == f"shows as {bug.wrong}." for bug in report.repaired.left)
        assert report.accepted == (not left) and not report.diagnosis


@pytest.mark.slow
def test_code_that_mends_a_bug_in_its_own_way_counts_and_of_more_changes_what_shows_most_is_told(folder):
    own = "def scaled_sum(x, weight, scale=2.0):\n    return ((x + 1) @ weight) * 1.0\n"
    assert [bug.wrong for bug in graded(folder, own).repaired.left] == ["no-scale"]
    also = with_bugs("mean").replace("shifted = x + 1.0", "shifted = x + 1.0 if x.shape[-1] != 3 else x - 7")
    assert [bug.wrong for bug in graded(folder, also).repaired.left] == ["mean"]


def test_a_file_that_gives_no_answers_has_nothing_repaired(folder):
    for source in ("def scaled_sum(x, weight, scale=2.0):\n    raise ValueError\n", "x = (", "def other(): pass\n"):
        report = graded(folder, source)
        assert (report.repaired.done, len(report.repaired.left)) == (0, 4)
    assert graded(folder, REFERENCE, (), ()).repaired is None, "a file without bugs"


def test_a_single_bug_without_a_patch_is_left_until_the_file_is_accepted(folder):
    assert [bug.wrong for bug in graded(folder, with_bugs("mean"), ("mean",), ()).repaired.left] == ["mean"]
    assert graded(folder, REFERENCE, ("mean",), ()).repaired.left == ()


def surprises(folder, repairs, said: str = "") -> list[str]:
    (folder.path / "repairs.yaml").write_text(said)
    found = planted_surprises(folder, lambda path, text: submission(folder, text), repairs)
    assert not said or {(item["file"], item["line"]) for item in found} == {("repairs.yaml", 2)}
    return [item["message"] for item in found]


def test_mistakes_that_compose_prove_themselves_and_one_that_does_not_is_told_with_its_line(folder):
    assert surprises(folder, REPAIRS) == surprises(folder, []) == []
    nothing = Repair("mean", "total = weighted.sum(-1)", "total = (weighted + 0.0).sum(-1)")
    told = surprises(folder, [nothing], "repairs:\n  - wrong: mean\n    find: a\n")
    assert any("is not rejected on the first rung" in message for message in told)
    other = Repair("mean", "total = weighted.sum(-1)", "total = weighted.sum(-1) * 5.0")
    assert "mean, planted in the reference, never answers as wrong/mean.py does" in surprises(folder, [other])


def test_a_mistake_that_hides_another_is_told(folder):
    zero = Repair("no-scale", "return total * scale", "return total * 0.0")
    files = PlantedFiles(folder, [REPAIRS[0], zero])
    pairs = list(undistinguished(files, list(probes(Exam(folder, 0)))))
    assert pairs == [(frozenset({"no-scale"}), frozenset({"no-shift", "no-scale"}))]
    assert any("one hides the other" in message for message in surprises(folder, [REPAIRS[0], zero]))
