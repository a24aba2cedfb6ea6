"""Repair rounds: the file with planted bugs, its separate grading, and its label afterwards."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from attncli.domain.grade_report import GradeReport, LeftBug, RepairedBugs, read, report_document
from attncli.domain.log_row import RowKind, checked_line, row_of_line
from attncli.errors import UsageError
from attncli.i18n import Localised
from attncli.paths import bundled_impl
from attncli.practice.challenges import standings
from attncli.practice.grade import GradeOptions, record_attempt, request_for, settle, target
from attncli.practice.record import take_back
from attncli.practice.start import open_round, planted_in, start_challenge


@pytest.fixture
def small_impl(small_impl: Path) -> Path:
    for folder in ("attention/sdpa", "attention/causal-mask"):
        shutil.copytree(bundled_impl() / folder, small_impl / folder)
    (small_impl / "attention" / "causal-mask" / "repairs.yaml").unlink(missing_ok=True)
    return small_impl


def report(verdict: str = "accepted", repaired: RepairedBugs | None = None):
    rung = "hardened" if verdict == "accepted" else "none"
    found = replace(read(GradeReport, {"challenge": "sdpa", "verdict": verdict, "rung": rung}), repaired=repaired)
    assert read(GradeReport, report_document(found)) == found
    return found


def sdpa(workspace):
    return next(found for found in standings(workspace) if found.challenge.id == "sdpa")


def graded(workspace, path: Path, verdict: str) -> None:
    request = request_for(workspace, "sdpa", path, GradeOptions())
    settle(workspace, request, report(verdict))


def test_a_round_is_the_reference_with_so_many_bugs_and_says_so_but_not_which(workspace):
    started = start_challenge(workspace, "sdpa", repair=3)
    text = started.path.read_text(encoding="utf-8")
    (row,) = workspace.store.log.of_kind(RowKind.START)
    assert started.bugs == 3 and len(row.repairs) == 3 and row.is_planted
    assert "this file has 3 bugs" in text and "attn grade sdpa sdpa.repair.py" in text
    assert not any(name in text for name in row.repairs)
    assert "so that their variance does not grow" not in text and "def sdpa" in ast.unparse(ast.parse(text))
    assert row_of_line(checked_line(row)) == row


def test_one_bug_is_one_and_a_chinese_learner_reads_chinese(open_workspace):
    text = start_challenge(open_workspace(), "sdpa", repair=1).path.read_text(encoding="utf-8")
    assert "this file has 1 bug" in text
    text = start_challenge(open_workspace("other", lang="zh"), "sdpa", repair=2).path.read_text(encoding="utf-8")
    assert "这个文件里有 2 处错误" in text


def test_rounds_take_turns_and_a_number_gives_the_same_round_again(workspace):
    paths = [workspace.home.root / str(k) for k in range(4)]
    for path in paths[:2]:
        start_challenge(workspace, "sdpa", path, repair=2)
    for path in paths[2:]:
        start_challenge(workspace, "sdpa", path, repair=2, seed=7)
    drawn = [row.repairs for row in workspace.store.log.of_kind(RowKind.START)]
    assert drawn[0] != drawn[1] and drawn[2] == drawn[3]


def test_what_a_challenge_does_not_offer_is_refused_before_anything_is_written(workspace):
    with pytest.raises(UsageError, match=r"causal-mask has no repair round; use --bug, or --repair with one of sdpa"):
        start_challenge(workspace, "causal-mask", repair=2)
    for count in (0, 5, -1):
        with pytest.raises(UsageError, match=f"sdpa has 1 to 4 bugs, not {count}; use --repair 1 to 4"):
            start_challenge(workspace, "sdpa", repair=count)
    assert not workspace.home.solutions.exists() and not workspace.store.log.of_kind(RowKind.START)


def test_an_existing_file_is_kept_and_stays_what_it_was_under_its_new_name(workspace):
    first = start_challenge(workspace, "sdpa", repair=3)
    with pytest.raises(UsageError, match="already exists; use --force"):
        start_challenge(workspace, "sdpa", repair=2)
    second = start_challenge(workspace, "sdpa", repair=2, force=True)
    challenge = workspace.library.challenge("sdpa")
    found = planted_in(workspace, challenge, second.path)
    assert found is not None and len(found.bugs) == 2
    kept = planted_in(workspace, challenge, second.kept)
    assert kept is not None and len(kept.bugs) == len(kept.repairs) == 3
    assert first.path == second.path and planted_in(workspace, challenge, Path("elsewhere.py")) is None


def test_the_judge_is_told_of_the_bugs_of_the_file_alone(workspace):
    path = start_challenge(workspace, "sdpa", repair=2).path
    request = request_for(workspace, "sdpa", path, GradeOptions())
    assert len(request.bugs) == 2 and [repair.wrong for repair in request.repairs] == list(request.bugs)
    mine = workspace.home.root / "mine.py"
    mine.write_text("x = 1\n")
    plain = request_for(workspace, "sdpa", mine, GradeOptions())
    assert plain.bugs == () and plain.repairs == ()


def test_a_single_bug_of_the_second_rung_is_asked_for_there(workspace):
    wrong = sorted((bundled_impl() / "attention" / "sdpa" / "wrong").glob("*.py"))
    rungs = {}
    for _ in wrong:
        path = start_challenge(workspace, "sdpa", bug=True, force=True).path
        request = request_for(workspace, "sdpa", path, GradeOptions(rung="solved"))
        rungs[request.bugs[0]] = request.options.rung
    mistakes = workspace.library.challenge("sdpa").mistakes
    assert rungs == {name: mistakes[name].rung for name in rungs} and len(rungs) == len(wrong)


@pytest.mark.parametrize("how", [{"bug": True}, {"repair": 2}])
def test_a_round_is_open_until_its_bugs_are_fixed_and_the_own_solution_stays(workspace, how):
    own, challenge = start_challenge(workspace, "sdpa").path, workspace.library.challenge("sdpa")
    own.write_text("mine = 1\n")
    assert open_round(workspace, challenge) is None and target(workspace, "sdpa", None) == ("sdpa", own)
    started = start_challenge(workspace, "sdpa", **how)
    assert open_round(workspace, challenge) == started and target(workspace, "sdpa", None)[1] == started.path
    graded(workspace, started.path, "rejected")
    assert open_round(workspace, challenge) == started
    graded(workspace, started.path, "accepted")
    assert open_round(workspace, challenge) is None and target(workspace, "sdpa", None) == ("sdpa", own)
    assert own.read_text() == "mine = 1\n"


@pytest.mark.parametrize("how", [{"bug": True}, {"repair": 2}])
def test_a_mended_file_counts_apart_once_and_leaves_standing_and_schedule(workspace, how):
    path = start_challenge(workspace, "sdpa", **how).path
    graded(workspace, path, "rejected")
    assert (sdpa(workspace).standing, sdpa(workspace).fixed, sdpa(workspace).attempts) == ("new", 0, 0)
    graded(workspace, path, "accepted")
    graded(workspace, path, "accepted")
    found = sdpa(workspace)
    assert (found.standing, found.fixed, found.attempts, found.schedule) == ("new", 1, 0, None)
    assert found.document("en")["fixed"] == 1
    start_challenge(workspace, "sdpa", force=True, **how)
    graded(workspace, path, "accepted")
    assert sdpa(workspace).fixed == 2
    take_back(workspace)
    assert sdpa(workspace).fixed == 1


def test_an_ordinary_file_after_a_round_is_an_attempt(workspace):
    start_challenge(workspace, "sdpa", repair=1)
    path = start_challenge(workspace, "sdpa").path
    graded(workspace, path, "accepted")
    assert (sdpa(workspace).standing, sdpa(workspace).fixed) == ("hardened", 0)


def test_a_round_between_does_not_change_how_an_attempt_is_rated(workspace):
    start_challenge(workspace, "sdpa")
    record_attempt(workspace, report(), "a = 1")
    before = sdpa(workspace).schedule
    path = start_challenge(workspace, "sdpa", repair=2).path
    graded(workspace, path, "rejected")
    assert sdpa(workspace).schedule == before


def test_the_log_keeps_which_bugs_were_left_and_another_machine_takes_it(workspace):
    path = start_challenge(workspace, "sdpa", repair=2).path
    request = request_for(workspace, "sdpa", path, GradeOptions())
    left = RepairedBugs(2, (LeftBug(request.bugs[0], Localised("It shows.", "表现。")),))
    settle(workspace, request, report("rejected", left))
    (row,) = workspace.store.log.of_kind(RowKind.REPAIR)
    (start,) = workspace.store.log.of_kind(RowKind.START)
    assert row.payload["left"] == [request.bugs[0]] and row.works_on == start.id and row.fixes == ""
    assert row_of_line(checked_line(row)) == row


def test_without_recording_nothing_is_kept(workspace):
    path = start_challenge(workspace, "sdpa", repair=2).path
    request = request_for(workspace, "sdpa", path, GradeOptions(record=False))
    settle(workspace, request, report())
    assert workspace.store.log.of_kind(RowKind.REPAIR) == [] and sdpa(workspace).fixed == 0
