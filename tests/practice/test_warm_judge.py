"""The judge of an app session: warm, cancellable, restarted after a cancel."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from attncli.errors import JudgeFailed
from attncli.paths import bundled_impl
from attncli.practice.grade import GradeOptions, GradeRequest, GradingCancelled, Judge

FOLDER = bundled_impl() / "attention" / "softmax-stable"
SPEC = {
    "id": "softmax-stable",
    "version": 1,
    "entry": ["softmax"],
    "required": ["loads", "matches-reference"],
    "badges": [],
    "forbidden": [],
    "cards": [],
}


def request(source: str) -> GradeRequest:
    return GradeRequest(
        spec=SPEC,
        folder=FOLDER,
        source=source.encode(),
        filename="softmax.py",
        options=GradeOptions(timeout_seconds=60),
    )


@pytest.fixture
def grader() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


@pytest.mark.sandbox
def test_a_cancelled_grading_ends_at_once_and_the_next_one_works(grader: Judge) -> None:
    grader.restart()
    running = threading.Event()
    cancel = threading.Thread(target=lambda: running.wait(60) and grader.cancel())
    cancel.start()
    with pytest.raises(GradingCancelled):
        grader.grade(request("while True: pass"), lambda event: running.set())
    cancel.join()
    right = sorted((FOLDER / "right").glob("*.py"))[0].read_text(encoding="utf-8")
    events: list[str] = []
    report = grader.grade(request(right), lambda event: events.append(event.name))
    assert report.accepted and "matches-reference" in events


@pytest.mark.sandbox
def test_a_judge_that_dies_by_itself_is_no_cancelling(grader: Judge) -> None:
    with pytest.raises(JudgeFailed, match="the judge died") as caught:
        grader.grade(request("while True: pass"), lambda event: grader.kill())
    assert not isinstance(caught.value, GradingCancelled)


def test_closing_without_a_judge_is_harmless(tmp_path: Path) -> None:
    Judge().close()
    Judge().cancel()
