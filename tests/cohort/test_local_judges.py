"""Grade with the judges of one machine: one outcome per task, dead judges are replaced, challenges keep their judge."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.cohort.grade_class import TaskQueue, default_jobs, grade_here, stored_grading
from attncli.cohort.outcomes import is_stored_result
from attncli.errors import JudgeFailed
from attncli.i18n import quoted
from attncli.judge.client import GradeRequest

from .conftest import DEADLY, RIGHT, WRONG, FakeJudge, task


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_task_has_one_outcome(start_judge, judge_log, jobs: int) -> None:
    tasks = [task(f"p{number}", id) for number in range(7) for id in ("double", "triple")]
    outcomes = list(grade_here(tasks, jobs, start_judge))
    assert Counter(outcome.task.pair for outcome in outcomes) == Counter(each.pair for each in tasks)
    assert all(outcome.graded and outcome.graded["rung"] == "hardened" for outcome in outcomes)
    assert 1 <= judge_log.count("start") == judge_log.count("close") <= jobs


def test_a_file_that_kills_its_judge_twice_has_a_result_and_changes_nobody_else_s(start_judge, judge_log) -> None:
    tasks = [task("a"), task("mallory", source=DEADLY), task("b", source=WRONG)]
    found = {outcome.task.submission.learner: outcome for outcome in grade_here(tasks, 1, start_judge)}
    graded = found["mallory"].graded
    assert is_stored_result(graded) and (graded["rung"], graded["sandbox"]) == ("none", ["process"])
    assert found["mallory"].error == ""
    (check,) = graded["checks"]
    assert (check["name"], check["status"], check["reason"], check["required"]) == ("loads", "fail", "crashed", True)
    assert (found["a"].graded["rung"], found["b"].graded["rung"]) == ("hardened", "none")
    assert judge_log.count("start") == 3


def test_without_any_judge_the_whole_run_ends(judge_log) -> None:
    class Missing(FakeJudge):
        def _start_process(self) -> None:
            raise JudgeFailed(quoted("grading needs PyTorch"))

    with pytest.raises(JudgeFailed, match="PyTorch"):
        list(grade_here([task("a"), task("b")], 2, lambda: Missing(judge_log)))


def test_who_stops_listening_leaves_no_judge(start_judge, judge_log) -> None:
    outcomes = grade_here([task(f"p{number}") for number in range(9)], 2, start_judge)
    next(outcomes)
    outcomes.close()
    assert judge_log.count("start") == judge_log.count("close")


def test_whatever_ends_a_judge_s_thread_is_raised(judge_log) -> None:
    class Broken(FakeJudge):
        def _start_process(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(grade_here([task("a")], 1, lambda: Broken(judge_log)))


class Stuck(FakeJudge):
    """A judge that hangs until it is killed."""

    def grade(self, request: GradeRequest, on_check: object = None):
        while self.alive():
            time.sleep(0.001)
        raise JudgeFailed(quoted("the judge died"))


def test_a_judge_that_is_stuck_is_killed(judge_log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attncli.cohort.grade_class.PATIENCE_LIMITS", 0.001)
    judge = Stuck(judge_log)
    graded, said = stored_grading(judge, task("a").standard.request(RIGHT))
    assert graded is not None and (graded["checks"][0]["reason"], said) == ("crashed", "")


class Failing(FakeJudge):
    """A judge that cannot grade but stays alive: no file is to blame."""

    def grade(self, request: GradeRequest, on_check: object = None):
        raise JudgeFailed(quoted("no process could be started"))


def test_a_judge_that_fails_and_lives_has_no_result(judge_log) -> None:
    judge = Failing(judge_log)
    assert stored_grading(judge, task("a").standard.request(RIGHT)) == (None, "no process could be started")


def test_by_default_no_more_judges_than_there_is_memory_for() -> None:
    assert default_jobs(64) >= default_jobs(1 << 20) == 1


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


def test_what_is_given_back_is_handed_out_again() -> None:
    queue = TaskQueue([task("a"), task("b")])
    first = queue.next()
    queue.give_back(first)
    assert [queue.next("").pair, queue.next("double").pair, queue.next("double")] == [first.pair, ("b", "double"), None]
