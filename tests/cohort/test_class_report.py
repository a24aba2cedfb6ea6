"""Derive the report from the results alone, whatever their order; find copied and disguised code."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.cohort import outcomes
from attncli.cohort import report as class_report
from attncli.cohort.grade_class import FILE, FOLDER, grade_class
from attncli.cohort.outcomes import ClassFolder, LeftOut, Outcome, SubmittedFile, stored_result
from attncli.cohort.report import ClassResults, SimilarFiles, report_document, similar_files, to_csv
from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.domain.grade_report_text import REASONS
from attncli.errors import EnvironmentFailure
from attncli.export.render import to_page
from attncli.i18n import LANGS, Lang, quoted
from attncli.judge.client import GradeOptions
from attncli.practice.start import starter
from processor_time import processor_seconds

from .conftest import RIGHT, WRONG, challenge, report_on

EVIL = "=cmd|'/c calc'!A1<script>alert(1)</script>"
# Names of folders and texts of errors that people made up to be run by the spreadsheet of whoever opens the table.
FORMULAS = (
    *("=1+1", "=cmd|' /C calc'!A0", "x;=1+1;y", "a;=cmd|' /C calc'!A0;b", "a; =1+1", 'a;"=1+1";b', "a;;=1", ";+1"),
    *("＝1+1", "a;＝1+1", "\t=1+1", "a\t=1+1", "+1", "@SUM(1)", "-1", "a;@SUM(1)", "new\nline;=1", "cr\r=1", "'=1"),
    " =1",
)
IMPL = Path(__file__).parents[2] / "impl"
SDPA = (IMPL / "attention" / "sdpa" / "reference.py").read_text(encoding="utf-8")


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


def test_people_challenges_and_what_costs_most_are_counted_without_times_in_any_order() -> None:
    report = report_document(results())
    people = {row["learner"]: (row["graded"], row["solved"], row["hardened"]) for row in report["learners"]}
    assert people == {"ada": (2, 2, 2), "bob": (2, 0, 0), "eve": (0, 0, 0), "zoe": (0, 0, 0), EVIL: (1, 0, 0)}
    challenges = {row["challenge"]: (row["graded"], row["solved"], row["hardened"]) for row in report["challenges"]}
    assert challenges == {"double": (3, 1, 1), "triple": (2, 1, 1)}
    costliest = report["costliest"]
    assert costliest["checks"] == [{"name": "matches-reference", "reason": "values", "learners": 2, "files": 3}]
    counts = [(row["challenge"], row["wrong"], row["learners"]) for row in costliest["diagnoses"]]
    assert counts == [("double", "adds", 2), ("triple", "adds", 1)]
    assert costliest["diagnoses"][0]["says_zh"] == "做了加法。"
    assert (report["sandbox"], report["seed"]) == ([{"layers": ["process"], "files": 5}], 0)
    assert report["judge_failed"] == [{"learner": "zoe", "challenge": "double", "error": "the judge died"}]
    messages = [row["message"] for row in report["left_out"]]
    assert messages == ["nothing submitted", "there is no such challenge; did you mean double?"]
    report = report_document(results())
    pairs = list(results().graded.items())
    random.Random(0).shuffle(pairs)
    assert json.dumps(report_document(results(graded=dict(pairs)))) == json.dumps(report)
    slower = results(graded={pair: {**found, "seconds": 9.0} for pair, found in pairs})
    assert report_document(slower) == report
    timed = report_document(slower, with_times=True)
    assert timed.pop("times")["seconds"] == 45.0
    assert timed == report


def test_what_differs_from_run_to_run_is_not_kept_of_a_message() -> None:
    def message(address: str) -> str:
        said = quoted(f"TypeError: <Foo object at {address}> " + "x" * 1000)
        check = CheckResult(name="loads", status="fail", message=said)
        report = GradeReport(challenge="c", file="f", verdict="rejected", checks=(check,))
        return stored_result(report)["checks"][0]["message"]

    assert message("0x7f00deadbeef") == message("0x7fffcafe0000")
    assert len(message("0x7f00deadbeef")) == outcomes.LONGEST_MESSAGE


def table_of(lang: Lang = "en", **changes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(report_document(results(**changes)), lang))))


def test_the_table_has_a_line_for_each_file_with_the_seed() -> None:
    for lang, message in (("en", "largest error 2"), ("zh", "最大误差 2")):
        rows = table_of(lang, options=GradeOptions(seed=7))
        assert len(rows) == 5 + 1 + 2 and set(rows[0]) == set(class_report.COLUMNS)
        evil = next(row for row in rows if "cmd" in row["learner"])
        assert (evil["learner"], evil["alike"], evil["message"]) == (f"'{EVIL}", "bob", message)
        assert {row["seed"] for row in rows} == {"7"}
    people = ("bob", *(f"p{number:02}" for number in range(20)))
    rows = table_of(similar=[SimilarFiles("double", people, 1.0)])
    cell = next(row["alike"] for row in rows if row["learner"] == "bob" and row["challenge"] == "double")
    assert cell == ", ".join(f"p{number:02}" for number in range(10)) + ", +10", "a large group is cut short"


def test_no_cell_is_a_formula_whatever_parts_the_cells() -> None:
    for text in FORMULAS:
        folder = ClassFolder((text,), (SubmittedFile(text, "double", b""),), (LeftOut(text, "unreadable", text),))
        check = CheckResult(name="loads", status="fail", rung="solved", message=quoted(text))
        report = GradeReport(challenge="double", file="f", verdict="rejected", checks=(check,))
        graded = {(text, "double"): stored_result(report)}
        told = results(folder=folder, graded=graded, failed={(text, "triple"): text}, similar=[])
        table = to_csv(report_document(told), "en")
        for separator in (",", ";", "\t"):
            rows = list(csv.reader(io.StringIO(table), delimiter=separator))
            rows += [line.split(separator) for line in table.splitlines()]  # for a reader that ignores quotes
            for row in rows:
                for cell in row:
                    assert not cell.lstrip(' "').startswith(("=", "+", "-", "@", "＝")), row


def test_the_page_is_whole_and_runs_nothing() -> None:
    report = report_document(results(), with_times=True)
    for lang in LANGS:
        page = to_page(report, class_report.grading_standard(report), lang)
        assert "<script>" not in page and "&lt;script&gt;" in page
        assert "default-src &#39;none&#39;" in page and "http://" not in page and "https://" not in page
        values = REASONS["values"][lang]
        for said in ("ada", "eve/dubble.py", "the judge died", outcomes.LEFT_OUT["empty"][lang], f"{90}", values):
            assert said in page
        assert ("做了加法。" in page, "标题 double" in page) == (lang == "zh", lang == "zh")
    right = {("ada", "double"): stored_result(report_on(RIGHT))}
    folder = ClassFolder(("ada",), (SubmittedFile("ada", "double", RIGHT),), ())
    report = report_document(results(graded=right, folder=folder, failed={}, similar=[]))
    assert "None." in to_page(report, class_report.grading_standard(report), "en"), (
        "a class without any fault has a page too"
    )


@pytest.fixture
def known(small_impl: Path) -> dict[str, Challenge]:
    return {"double": challenge("double", small_impl / "basics" / "double")}


def class_of(*people: str) -> ClassFolder:
    return ClassFolder(people, tuple(SubmittedFile(name, "double", WRONG + name.encode()) for name in people), ())


def judges(asked: list[str]):
    def grade(tasks):
        for task in tasks:
            asked.append(task.submission.learner)
            yield Outcome(task, stored_result(report_on(task.submission.source)))

    return grade


def test_what_is_known_by_the_same_standard_is_not_graded_again(tmp_path, known) -> None:
    asked: list[str] = []
    first = grade_class(tmp_path, class_of("a", "b"), known, GradeOptions(), judges(asked))
    seen: list[tuple[int, int, int]] = []
    again = grade_class(
        tmp_path, class_of("a", "b", "c"), known, GradeOptions(), judges(asked), lambda *told: seen.append(told)
    )
    assert seen == [(2, 3, 2), (3, 3, 2)], "progress counts what was known, and ends at all"
    assert asked == ["a", "b", "c"] and {**first.graded} == {k: v for k, v in again.graded.items() if k[0] != "c"}
    grade_class(tmp_path, class_of("a"), known, GradeOptions(seed=1), judges(asked))
    (Path(known["double"].folder) / "reference.py").write_text("def double(x):\n    return 2 * x\n")
    grade_class(tmp_path, class_of("a"), known, GradeOptions(), judges(asked))
    assert asked == ["a", "b", "c", "a", "a"]


def test_what_came_before_a_fault_is_kept_and_what_the_judge_failed_on_is_tried_again(tmp_path, known) -> None:
    def dies(tasks):
        yield Outcome(tasks[0], stored_result(report_on(RIGHT)))
        yield Outcome(tasks[1], None, "died")
        raise EnvironmentFailure(quoted("the power failed"))

    with pytest.raises(EnvironmentFailure):
        grade_class(tmp_path, class_of("a", "b", "c"), known, GradeOptions(), dies)
    fails = lambda tasks: (Outcome(task, None, "died") for task in tasks)  # noqa: E731
    failed = grade_class(tmp_path, class_of("a", "b"), known, GradeOptions(), fails)
    assert failed.failed == {("b", "double"): "died"} and len(failed.graded) == 1
    asked: list[str] = []
    found = grade_class(tmp_path, class_of("a", "b", "c"), known, GradeOptions(), judges(asked))
    assert asked == ["b", "c"] and len(found.graded) == 3


def test_a_drawn_seed_is_kept_with_the_results(tmp_path, known) -> None:
    seeds, asked = iter([5, 6]), list[str]()

    def graded(*people: str, given: int | None = None) -> int:
        draw, options = (lambda: next(seeds)) if given is None else None, GradeOptions(seed=given or 0)
        return grade_class(tmp_path, class_of(*people), known, options, judges(asked), draw_seed=draw).options.seed

    assert [graded("a"), graded("a", "b")] == [5, 5] and asked == ["a", "b"]
    assert graded("a", given=9) == 9
    assert graded("a") == 9 and asked == ["a", "b", "a"]
    (tmp_path / FOLDER / FILE).unlink()
    assert graded("a") == 6


def test_a_standard_is_another_one_when_anything_in_it_changes(known) -> None:
    mine = known["double"]
    told = [
        outcomes.standard_of(mine, GradeOptions(), {"torch": "1"}),
        outcomes.standard_of(mine, GradeOptions(seed=1), {"torch": "1"}),
        outcomes.standard_of(mine, GradeOptions(), {"torch": "2"}),
        outcomes.standard_of(replace(mine, version=2), GradeOptions(), {"torch": "1"}),
    ]
    (Path(mine.folder) / "wrong" / "squares.py").write_text("")
    told.append(outcomes.standard_of(mine, GradeOptions(), {"torch": "1"}))
    assert len({each.fingerprint for each in told}) == 5


def disguised(source: str) -> bytes:
    """Return the same program with other names, comments, docstrings and layout."""
    text = re.sub(r"\b(scores|weights|mask|scale)\b", r"my_\1", source)
    text = re.sub(r'"""', '"""Mine. ', text, count=1).replace("\n\n", "\n\n\n# my own idea\n\n")
    return text.encode()


def test_a_copy_is_found_whatever_was_renamed_and_what_all_were_given_or_most_write_is_no_sign() -> None:
    other = (IMPL / "norms" / "rms-norm" / "reference.py").read_bytes()
    found = similar_files("sdpa", {"ada": SDPA.encode(), "bob": disguised(SDPA), "eve": other}, [])
    assert [(group.learners, group.share) for group in found] == [(("ada", "bob"), 1.0)]
    given_out = starter(IMPL / "attention" / "sdpa" / "reference.py", ["sdpa"], "statement")
    assert similar_files("sdpa", dict.fromkeys(("ada", "bob"), given_out.encode()), [given_out]) == []
    own = {
        f"p{n}": f"{SDPA}\n\nx{n} = torch.relu({n}) + torch.exp({n * 7}) @ torch.ones({n}, {n}, {n})".encode()
        for n in range(class_report.LEAST_CLASS)
    }
    assert len(similar_files("sdpa", dict(list(own.items())[:2]), [])) == 1
    assert similar_files("sdpa", own, []) == []


@pytest.mark.parametrize(
    "track", ["norms", *(pytest.param(name, marks=pytest.mark.full) for name in ("attention", "cache", "efficient"))]
)
def test_right_solutions_that_people_wrote_apart_are_not_alike(track: str) -> None:
    for folder in sorted((IMPL / track).iterdir()):
        entry = yaml.safe_load((folder / "challenge.yaml").read_text(encoding="utf-8"))["entry"]
        given_out = starter(folder / "reference.py", entry, "statement")
        files = [folder / "reference.py", *sorted(folder.glob("right/*.py"))]
        for one, other in combinations(files, 2):
            assert similar_files("x", {"a": one.read_bytes(), "b": other.read_bytes()}, [given_out]) == [], (one, other)


@given(st.lists(st.binary(max_size=300), max_size=4))
def test_whatever_is_handed_in_can_be_compared(sources) -> None:
    for group in similar_files("x", {f"p{n}": source for n, source in enumerate(sources)}, []):
        assert len(group.learners) > 1 and 0.6 <= group.share <= 1


def test_whatever_is_handed_in_is_compared_in_little_time() -> None:
    for source in (b"\0" * 99, b"(" * 9999, b"'''", b"\xff\xfe", b"\tx\n  y\n\tz", b"x = 0777"):
        assert all(len(group.learners) == 2 for group in similar_files("x", {"a": source, "b": source}, [])), source
    strings, others = (
        (b"'" + b"\\'" * 2**19, b'f"' + b"{a}" * 2**18, b'"' * 2**20),
        (b"(" * 2**20, b"\\\n" * 2**19, b"9" * 2**20),
    )
    for line in (*strings, *others):
        with processor_seconds(10):
            similar_files("double", {"a": line, "b": b"x = 1\n" + line}, [])
