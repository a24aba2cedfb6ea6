"""Grade with the judges of one machine; store results fully or not at all, and reuse them for the same file alone."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.cohort.grade_class import FILE, FOLDER, TaskQueue, default_jobs, grade_here, open_results, stored_grading
from attncli.cohort.outcomes import is_stored_result, stored_result
from attncli.errors import JudgeFailed, UsageError
from attncli.i18n import quoted
from attncli.judge.client import GradeRequest

from .conftest import DEADLY, RIGHT, WRONG, FakeJudge, report_on, task

GRADED = stored_result(report_on(RIGHT))


def test_every_task_has_one_outcome_and_who_stops_listening_leaves_no_judge(start_judge, judge_log) -> None:
    tasks = [task(f"p{number}", id) for number in range(7) for id in ("double", "triple")]
    for jobs in (1, 3):
        judge_log.clear()
        outcomes = list(grade_here(tasks, jobs, start_judge))
        assert Counter(outcome.task.pair for outcome in outcomes) == Counter(each.pair for each in tasks)
        assert all(outcome.graded and outcome.graded["rung"] == "hardened" for outcome in outcomes)
        assert 1 <= judge_log.count("start") == judge_log.count("close") <= jobs
    stopped = grade_here(tasks, 2, start_judge)
    next(stopped)
    stopped.close()
    assert judge_log.count("start") == judge_log.count("close")


def test_a_file_that_kills_its_judge_twice_has_a_result_and_changes_nobody_else_s(start_judge, judge_log) -> None:
    tasks = [task("a"), task("mallory", source=DEADLY), task("b", source=WRONG)]
    found = {outcome.task.submission.learner: outcome for outcome in grade_here(tasks, 1, start_judge)}
    graded = found["mallory"].graded
    assert is_stored_result(graded) and (graded["rung"], graded["sandbox"]) == ("none", ["process"])
    assert not any(is_stored_result({**graded, key: "no"}) for key in ("rung", "checks", "sandbox", "seconds"))
    assert found["mallory"].error == ""
    (check,) = graded["checks"]
    assert (check["name"], check["status"], check["reason"], check["required"]) == ("loads", "fail", "crashed", True)
    assert (found["a"].graded["rung"], found["b"].graded["rung"]) == ("hardened", "none")
    assert judge_log.count("start") == 3


@pytest.mark.parametrize("error", [JudgeFailed(quoted("grading needs PyTorch")), ZeroDivisionError("by a test")])
def test_whatever_keeps_judges_from_starting_ends_the_whole_run(judge_log, error: Exception) -> None:
    class Missing(FakeJudge):
        def _start_process(self) -> None:
            raise error

    with pytest.raises(type(error), match=r"PyTorch|by a test"):
        list(grade_here([task("a"), task("b")], 2, lambda: Missing(judge_log)))


def test_a_judge_that_is_stuck_is_killed_and_one_that_fails_but_lives_has_no_result(judge_log, monkeypatch) -> None:
    class Stuck(FakeJudge):
        def grade(self, request: GradeRequest, on_check: object = None):
            while self.alive():
                time.sleep(0.001)
            raise JudgeFailed(quoted("the judge died"))

    class Failing(FakeJudge):
        def grade(self, request: GradeRequest, on_check: object = None):
            raise JudgeFailed(quoted("no process could be started"))

    request = task("a").standard.request(RIGHT)
    assert stored_grading(Failing(judge_log), request) == (None, "no process could be started")
    monkeypatch.setattr("attncli.cohort.grade_class.PATIENCE_LIMITS", 0.001)
    graded, said = stored_grading(Stuck(judge_log), request)
    assert graded is not None and (graded["checks"][0]["reason"], said) == ("crashed", "")


def test_what_is_given_back_is_handed_out_again() -> None:
    queue = TaskQueue([task("a"), task("b")])
    first = queue.next()
    queue.give_back(first)
    assert [queue.next("").pair, queue.next("double").pair, queue.next("double")] == [first.pair, ("b", "double"), None]
    assert default_jobs(64) >= default_jobs(1 << 20) == 1, "no more judges than there is memory for"


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4), workers=st.integers(1, 4), data=st.data())
def test_a_judge_stays_with_its_challenge_while_there_is_something_to_grade(sizes, workers, data) -> None:
    queue = TaskQueue([task(f"p{n}", f"c{place}") for place, size in enumerate(sizes) for n in range(size)])
    left = dict(enumerate(sizes))
    last = dict.fromkeys(range(workers), "")
    handed = []
    while True:
        worker = data.draw(st.integers(0, workers - 1))
        found = queue.next(last[worker])
        if found is None:
            break
        challenge = found.submission.challenge
        assert challenge == last[worker] or not left.get(int(last[worker][1:] or -1), 0)
        left[int(challenge[1:])] -= 1
        last[worker] = challenge
        handed.append(found.pair)
    assert len(set(handed)) == len(handed) == sum(sizes)


def test_what_was_added_is_there_again_for_the_same_file_person_and_standard(tmp_path: Path) -> None:
    mine = task("李雷")
    with open_results(tmp_path) as results:
        results.add(mine, GRADED)
        assert results.of(mine) == GRADED
    with open_results(tmp_path) as results:
        assert results.of(mine) == GRADED
        other_standard = replace(mine, standard=replace(mine.standard, fingerprint="another"))
        for other in (task("bob"), task("李雷", source=WRONG), task("李雷", id="triple"), other_standard):
            assert results.of(other) is None


@pytest.mark.slow
@given(cut=st.integers(0, 10_000), rubbish=st.binary(max_size=20))
def test_a_file_that_was_cut_anywhere_keeps_its_whole_lines_and_takes_more(tmp_path_factory, cut, rubbish) -> None:
    folder = tmp_path_factory.mktemp("class")
    people = ["a", "b", "c"]
    with open_results(folder) as results:
        for name in people:
            results.add(task(name), GRADED)
    path = folder / FOLDER / FILE
    content = path.read_bytes()[:cut]
    path.write_bytes(content + rubbish.replace(b"\n", b""))
    whole = content.count(b"\n")
    with open_results(folder) as results:
        assert [results.of(task(name)) is not None for name in people] == [place < whole for place in range(3)]
        results.add(task("d"), GRADED)
    with open_results(folder) as results:
        assert results.of(task("d")) == GRADED
    assert path.read_bytes().count(b"\n") == whole + 1


def test_a_line_that_is_no_result_is_passed_over_and_a_seed_out_of_range_is_none(tmp_path: Path) -> None:
    with open_results(tmp_path) as results:
        results.add(task("a"), GRADED)
    path = tmp_path / FOLDER / FILE
    kept = path.read_bytes()
    odd = [b"{", b"[]", b'{"learner": "a"}', b'{"graded": {"rung": "none"}}', b'{"seed": 3}', b"\xff", b"null"]
    contents = [line + b"\n" + kept for line in odd]
    seeds = (b"-1", b"2147483648", b"true", b'"1"', b"1e400", b"null")
    contents += [kept.replace(b'"seed": 0', b'"seed": ' + seed) for seed in seeds]
    for content in contents:
        path.write_bytes(content)
        with open_results(tmp_path) as results:
            assert results.of(task("a")) == GRADED, content
            assert results.seed is None or b'"seed": 0' in content


def test_results_that_are_in_use_foreign_or_in_the_way_are_refused(tmp_path: Path) -> None:
    def refused(folder: Path, said: str) -> None:
        with pytest.raises(UsageError, match=said), open_results(folder):
            pass

    with open_results(tmp_path):
        refused(tmp_path, "another attn cohort is grading")
    for name in ("linked", "theirs", "blocked"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / FOLDER).symlink_to("../theirs")
    refused(tmp_path / "linked", "belongs to another user")
    (tmp_path / "blocked" / FOLDER).write_text("")
    refused(tmp_path / "blocked", r"cannot write .*; move that file out of the way")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_s_is_refused(tmp_path: Path) -> None:
    with open_results(tmp_path):
        pass
    os.chown(tmp_path / FOLDER / FILE, 12345, 12345)
    with pytest.raises(UsageError, match="belongs to another user"), open_results(tmp_path):
        pass
