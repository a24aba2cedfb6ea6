"""Derive the report from the results alone; it counts people, and the order of the results does not matter."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from attncli.cohort.grade_class import FILE, FOLDER, grade_class
from attncli.cohort.outcomes import (
    LEFT_OUT,
    LONGEST_MESSAGE,
    ClassFolder,
    LeftOut,
    Outcome,
    SubmittedFile,
    standard_of,
    stored_result,
)
from attncli.cohort.report import COLUMNS, ClassResults, SimilarFiles, grading_standard, report_document, to_csv
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.errors import EnvironmentFailure
from attncli.export.render import to_page
from attncli.i18n import quoted
from attncli.judge.client import GradeOptions

from .conftest import RIGHT, WRONG, challenge, report_on

EVIL = "=cmd|'/c calc'!A1<script>alert(1)</script>"


def results(**changes) -> ClassResults:
    """Ada is right twice, Bob wrong twice, a hostile name wrong once; Eve handed in nothing; Zoe killed the judge."""
    files = [("ada", "double"), ("ada", "triple"), ("bob", "double"), ("bob", "triple"), (EVIL, "double")]
    graded = {(name, id): stored_result(report_on(RIGHT if name == "ada" else WRONG)) for name, id in files}
    folder = ClassFolder(
        ("ada", "bob", "eve", "zoe", EVIL),
        tuple(SubmittedFile(name, id, b"") for name, id in [*files, ("zoe", "double")]),
        (LeftOut("eve", "empty"), LeftOut("eve/dubble.py", "unknown-challenge", "double")),
    )
    told = {
        "folder": folder,
        "challenges": {id: challenge(id) for id in ("double", "triple")},
        "options": GradeOptions(),
        "versions": {"attncli": "1", "torch": "2"},
        "graded": graded,
        "failed": {("zoe", "double"): "the judge died"},
        "similar": [SimilarFiles("double", ("bob", EVIL), 0.9)],
    }
    return ClassResults(**{**told, **changes})


def test_both_rungs_are_counted_for_people_and_for_challenges() -> None:
    report = report_document(results())
    people = {row["learner"]: (row["graded"], row["solved"], row["hardened"]) for row in report["learners"]}
    assert people == {"ada": (2, 2, 2), "bob": (2, 0, 0), "eve": (0, 0, 0), "zoe": (0, 0, 0), EVIL: (1, 0, 0)}
    challenges = {row["challenge"]: (row["graded"], row["solved"], row["hardened"]) for row in report["challenges"]}
    assert challenges == {"double": (3, 1, 1), "triple": (2, 1, 1)}


def test_what_costs_most_is_counted_by_people() -> None:
    costliest = report_document(results())["costliest"]
    assert costliest["checks"] == [{"name": "matches-reference", "reason": "values", "learners": 2, "files": 3}]
    assert [(row["challenge"], row["wrong"], row["learners"]) for row in costliest["diagnoses"]] == [
        ("double", "adds", 2),
        ("triple", "adds", 1),
    ]
    assert costliest["diagnoses"][0]["says_zh"] == "做了加法。"


def test_layers_versions_seed_and_what_failed_are_told() -> None:
    report = report_document(results())
    assert (report["sandbox"], report["seed"]) == ([{"layers": ["process"], "files": 5}], 0)
    assert report["judge_failed"] == [{"learner": "zoe", "challenge": "double", "error": "the judge died"}]
    assert [row["message"] for row in report["left_out"]] == [
        "nothing submitted",
        "there is no such challenge; did you mean double?",
    ]


def test_times_stand_in_a_part_of_their_own() -> None:
    slower = {pair: {**found, "seconds": 9.0} for pair, found in results().graded.items()}
    assert report_document(results()) == report_document(results(graded=slower))
    timed = report_document(results(graded=slower), with_times=True)
    assert timed.pop("times")["seconds"] == 45.0
    assert timed == report_document(results())


def test_the_order_in_which_results_came_does_not_show() -> None:
    pairs = list(results().graded.items())
    random.Random(0).shuffle(pairs)
    assert json.dumps(report_document(results(graded=dict(pairs)))) == json.dumps(report_document(results()))


def test_what_differs_from_run_to_run_is_not_kept_of_a_message() -> None:
    def message(address: str) -> str:
        said = quoted(f"TypeError: <Foo object at {address}> " + "x" * 1000)
        check = CheckResult(name="loads", status="fail", message=said)
        report = GradeReport(challenge="c", file="f", verdict="rejected", checks=(check,))
        return stored_result(report)["checks"][0]["message"]

    assert message("0x7f00deadbeef") == message("0x7fffcafe0000")
    assert len(message("0x7f00deadbeef")) == LONGEST_MESSAGE


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_table_has_a_line_for_each_file_and_no_formula(lang) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(report_document(results()), lang))))
    assert len(rows) == 5 + 1 + 2 and set(rows[0]) == set(COLUMNS)
    evil = next(row for row in rows if "cmd" in row["learner"])
    assert evil["learner"] == f"'{EVIL}" and evil["alike"] == "bob"
    assert not any(value.startswith(("=", "+", "-", "@")) for row in rows for value in row.values())
    assert evil["message"] == ("largest error 2" if lang == "en" else "最大误差 2")


# Names of folders and texts of errors that people made up to be run by the spreadsheet of whoever opens the table.
FORMULAS = (
    *("=1+1", "=cmd|' /C calc'!A0", "x;=1+1;y", "a;=cmd|' /C calc'!A0;b", "a; =1+1", 'a;"=1+1";b', "a;;=1", ";+1"),
    *(
        "＝1+1",
        "a;＝1+1",
        "\t=1+1",
        "a\t=1+1",
        "+1",
        "@SUM(1)",
        "-1",
        "a;@SUM(1)",
        "new\nline;=1",
        "cr\r=1",
        "'=1",
        " =1",
    ),
)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_whatever_parts_the_cells(text: str, separator: str) -> None:
    folder = ClassFolder((text,), (SubmittedFile(text, "double", b""),), (LeftOut(text, "unreadable", text),))
    check = CheckResult(name="loads", status="fail", rung="solved", message=quoted(text))
    report = GradeReport(challenge="double", file="f", verdict="rejected", checks=(check,))
    told = results(
        folder=folder, graded={(text, "double"): stored_result(report)}, failed={(text, "triple"): text}, similar=[]
    )
    table = to_csv(report_document(told), "en")
    for row in csv.reader(io.StringIO(table), delimiter=separator):
        for cell in row:
            assert not cell.lstrip(' "').startswith(("=", "+", "-", "@", "＝")), row
    for line in table.splitlines():  # for a reader that takes no quotes into account
        for cell in line.split(separator):
            assert not cell.lstrip(' "').startswith(("=", "+", "-", "@", "＝")), line


def test_the_seed_stands_in_every_line_of_the_table() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(report_document(results(options=GradeOptions(seed=7))), "en"))))
    assert {row["seed"] for row in rows} == {"7"}


def test_a_large_group_is_cut_short_in_a_cell() -> None:
    people = ("bob", *(f"p{number:02}" for number in range(20)))
    rows = csv.DictReader(
        io.StringIO(to_csv(report_document(results(similar=[SimilarFiles("double", people, 1.0)])), "en"))
    )
    cell = next(row["alike"] for row in rows if row["learner"] == "bob" and row["challenge"] == "double")
    assert cell == ", ".join(f"p{number:02}" for number in range(10)) + ", +10"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_whole_and_runs_nothing(lang) -> None:
    report = report_document(results(), with_times=True)
    page = to_page(report, grading_standard(report), lang)
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "default-src &#39;none&#39;" in page and "http://" not in page and "https://" not in page
    for said in ("ada", "eve/dubble.py", "the judge died", LEFT_OUT["empty"][lang], f"{90}"):
        assert said in page
    assert ("做了加法。" in page, "标题 double" in page) == ((True, True) if lang == "zh" else (False, False))


def test_a_class_without_any_fault_has_a_page_too() -> None:
    right = {("ada", "double"): stored_result(report_on(RIGHT))}
    folder = ClassFolder(("ada",), (SubmittedFile("ada", "double", RIGHT),), ())
    report = report_document(results(graded=right, folder=folder, failed={}, similar=[]))
    assert "None." in to_page(report, grading_standard(report), "en")


@pytest.fixture
def folder_of_double(small_impl: Path) -> Path:
    return small_impl / "basics" / "double"


def class_of(*people: str) -> ClassFolder:
    return ClassFolder(people, tuple(SubmittedFile(name, "double", WRONG + name.encode()) for name in people), ())


def judges(asked: list[str]):
    def grade(tasks):
        for task in tasks:
            asked.append(task.submission.learner)
            yield Outcome(task, stored_result(report_on(task.submission.source)))

    return grade


def test_what_is_known_by_the_same_standard_is_not_graded_again(tmp_path, folder_of_double) -> None:
    known = {"double": challenge("double", folder_of_double)}
    asked: list[str] = []
    first = grade_class(tmp_path, class_of("a", "b"), known, GradeOptions(), judges(asked))
    again = grade_class(tmp_path, class_of("a", "b", "c"), known, GradeOptions(), judges(asked))
    assert asked == ["a", "b", "c"] and {**first.graded} == {k: v for k, v in again.graded.items() if k[0] != "c"}
    grade_class(tmp_path, class_of("a"), known, GradeOptions(seed=1), judges(asked))
    (folder_of_double / "reference.py").write_text("def double(x):\n    return 2 * x\n")
    grade_class(tmp_path, class_of("a"), known, GradeOptions(), judges(asked))
    assert asked == ["a", "b", "c", "a", "a"]


def test_what_came_before_a_fault_is_kept(tmp_path, folder_of_double) -> None:
    known = {"double": challenge("double", folder_of_double)}

    def dies(tasks):
        yield Outcome(tasks[0], stored_result(report_on(RIGHT)))
        raise EnvironmentFailure(quoted("the power failed"))

    with pytest.raises(EnvironmentFailure):
        grade_class(tmp_path, class_of("a", "b"), known, GradeOptions(), dies)
    asked: list[str] = []
    found = grade_class(tmp_path, class_of("a", "b"), known, GradeOptions(), judges(asked))
    assert asked == ["b"] and len(found.graded) == 2


def test_what_the_judge_failed_on_is_told_and_tried_again(tmp_path, folder_of_double) -> None:
    known = {"double": challenge("double", folder_of_double)}
    failed = grade_class(
        tmp_path, class_of("a"), known, GradeOptions(), lambda tasks: (Outcome(task, None, "died") for task in tasks)
    )
    assert failed.failed == {("a", "double"): "died"} and not failed.graded
    asked: list[str] = []
    grade_class(tmp_path, class_of("a"), known, GradeOptions(), judges(asked))
    assert asked == ["a"]


def test_a_drawn_seed_is_kept_with_the_results(tmp_path, folder_of_double) -> None:
    known = {"double": challenge("double", folder_of_double)}
    seeds, asked = iter([5, 6]), list[str]()

    def graded(*people: str, given: int | None = None) -> int:
        draw, options = (lambda: next(seeds)) if given is None else None, GradeOptions(seed=given or 0)
        return grade_class(tmp_path, class_of(*people), known, options, judges(asked), draw_seed=draw).options.seed

    assert [graded("a"), graded("a", "b")] == [5, 5] and asked == ["a", "b"]
    assert graded("a", given=9) == 9
    assert graded("a") == 9 and asked == ["a", "b", "a"]
    (tmp_path / FOLDER / FILE).unlink()
    assert graded("a") == 6


def test_progress_counts_what_was_known_and_ends_at_all(tmp_path, folder_of_double) -> None:
    known = {"double": challenge("double", folder_of_double)}
    grade_class(tmp_path, class_of("a"), known, GradeOptions(), judges([]))
    seen: list[tuple[int, int, int]] = []
    grade_class(tmp_path, class_of("a", "b"), known, GradeOptions(), judges([]), lambda *told: seen.append(told))
    assert seen == [(1, 2, 1), (2, 2, 1)]


def test_a_standard_is_another_one_when_anything_in_it_changes(folder_of_double) -> None:
    mine = challenge("double", folder_of_double)
    first = standard_of(mine, GradeOptions(), {"torch": "1"}).fingerprint
    changed = [
        standard_of(mine, GradeOptions(seed=1), {"torch": "1"}),
        standard_of(mine, GradeOptions(), {"torch": "2"}),
        standard_of(replace(mine, version=2), GradeOptions(), {"torch": "1"}),
    ]
    (folder_of_double / "wrong" / "squares.py").write_text("")
    changed.append(standard_of(mine, GradeOptions(), {"torch": "1"}))
    assert len({first, *(each.fingerprint for each in changed)}) == 5
