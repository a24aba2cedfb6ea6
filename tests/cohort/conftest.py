"""A class of a few people, and fake judges without a process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from attncli.cohort.outcomes import Standard, SubmittedFile, Task
from attncli.domain.challenge import Challenge, Mistake
from attncli.domain.grade_report import CheckResult, Diagnosis, GradeReport
from attncli.errors import JudgeFailed
from attncli.i18n import Localised, quoted
from attncli.judge.client import GradeOptions, GradeRequest, Judge

from ..domain.test_statement import challenge as doubling

RIGHT, WRONG, DEADLY = b"right", b"wrong", b"deadly"
SAID = Localised("largest error 2", "最大误差 2")
ADDS = Mistake(Localised("Adds.", "做了加法。"), Localised("s", "症"), ("att-02",), "solved")


def challenge(id: str, folder: Path = Path("none")) -> Challenge:
    title = Localised(f"Title {id}", f"标题 {id}")
    return replace(
        doubling("loads", "matches-reference"), id=id, title=title, mistakes={"adds": ADDS}, folder=str(folder)
    )


def task(learner: str, id: str = "double", source: bytes = RIGHT) -> Task:
    standard = Standard(challenge(id), GradeOptions(), {}, f"standard of {id}")
    return Task(SubmittedFile(learner, id, source), standard)


def report_on(source: bytes) -> GradeReport:
    """Return the report of the fake judges: the RIGHT file is hardened."""
    loads = CheckResult(name="loads", status="pass", rung="solved")
    report = GradeReport(
        challenge="double", file="double.py", verdict="rejected", checks=(loads,), sandbox=("process",), seconds=0.5
    )
    if source == RIGHT:
        return replace(report, verdict="accepted", rung="hardened")
    failed = CheckResult(name="matches-reference", status="fail", rung="solved", reason="values", message=SAID)
    return replace(report, checks=(loads, failed), diagnosis=(Diagnosis("adds", "Adds.", ("att-02",)),))


class FakeJudge(Judge):
    """A judge that dies of deadly files and logs its starts."""

    def __init__(self, log: list[str]) -> None:
        super().__init__()
        self._alive = False
        self._written = log

    def _start_process(self) -> None:
        self._written.append("start")
        self._alive = True

    def layers(self) -> list[str]:
        self.restart()
        return ["process"]

    def alive(self) -> bool:
        return self._alive

    def grade(self, request: GradeRequest, on_check: object = None) -> GradeReport:
        if request.source == DEADLY:
            self._alive = False
        if not self._alive:
            raise JudgeFailed(quoted("the judge died (signal 11); run attn doctor, then try again"))
        self._written.append(threading.current_thread().name)
        return report_on(request.source)

    def kill(self) -> None:
        self._alive = False

    def close(self) -> None:
        if self._written.count("start") > self._written.count("close"):
            self._written.append("close")


@pytest.fixture
def judge_log() -> list[str]:
    return []


@pytest.fixture
def start_judge(judge_log: list[str]) -> Callable[[], FakeJudge]:
    return lambda: FakeJudge(judge_log)


@pytest.fixture
def write_class(tmp_path: Path) -> Callable[[Mapping[str, bytes | str]], Path]:
    """`write_class({"ada/double.py": "…"})` writes the files of a class and returns their folder."""

    def write(files: Mapping[str, bytes | str]) -> Path:
        folder = tmp_path / "class"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    return write
