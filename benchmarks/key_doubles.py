"""The app with fakes for everything that starts a process: the judge, experiments, and external editors."""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from attncli.domain.grade_report import BothAnswers, CheckResult, Counterexample, GradeReport, read
from attncli.errors import JudgeFailed
from attncli.experiments.runner import Experiment, SeedOutcome, outcome_of
from attncli.i18n import Localised, quoted
from attncli.judge.client import GradeRequest, OnCheck
from attncli.practice.grade import GradingCancelled, Judge, TryRequest
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp
from attncli.tui.screens import experiment as experiment_screen

GRADING_SECONDS = 0.02


class PlayedJudge(Judge):
    """Accepts files that contain the reference and rejects all others; sometimes it returns no verdict.

    Each grading takes a moment and can be cancelled in it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stop = threading.Event()

    def restart(self) -> None:
        """Do nothing, as there is no process."""

    def cancel(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._stop.set()

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        self._stop.clear()
        names = list(request.spec["required"]) or ["loads"]
        if on_check is not None:
            on_check(read(CheckResult, {"name": names[0], "status": "running"}))
        if self._stop.wait(GRADING_SECONDS):
            raise GradingCancelled(quoted("the grading was cancelled; there is no verdict"))
        if zlib.crc32(request.source) % 17 == 0:
            raise JudgeFailed(quoted("the judge ended before it had a verdict; try again"))
        reference = (request.folder / "reference.py").read_bytes().strip()
        return read(GradeReport, _document(request, names, reference in request.source))

    def try_case(self, request: TryRequest) -> BothAnswers:
        self._stop.clear()
        if self._stop.wait(GRADING_SECONDS):
            raise GradingCancelled(quoted("the grading was cancelled; there is no verdict"))
        return BothAnswers(said=Localised("the same", "相同"), shown=Counterexample(args={}), same=True)


def _document(request: GradeRequest, names: Sequence[str], accepted: bool) -> dict[str, Any]:
    checks: list[dict[str, Any]] = [{"name": name, "status": "pass", "required": True} for name in names]
    document = {
        "challenge": request.spec["id"],
        "file": request.filename,
        "seed": request.options.seed,
        "seconds": 0.02,
    }
    document |= {"verdict": "accepted" if accepted else "rejected", "rung": "solved" if accepted else "none"}
    if not accepted:
        tensor = {"shape": [2], "dtype": "float32", "values": [1.0, 0.0]}
        shown = {"args": {"x": tensor}, "expected": tensor, "got": None}
        checks[-1] |= {"status": "fail", "reason": "values", "message": "off by 1", "counterexample": shown}
    if request.repairs:
        left = [{"wrong": bug, "symptom": "It is off.", "symptom_zh": "不对。"} for bug in request.bugs]
        document["repaired"] = {"of": len(request.bugs), "done": 0, "left": [] if accepted else left}
    return document | {"checks": checks, "score": {"passed": len(checks) - (not accepted), "total": len(checks)}}


class PlayedExperiment:
    """An experiment without a process: one row, one plot and one check, after a moment."""

    def __init__(self, experiment: Experiment, impl: Path, seeds: Sequence[int], quick: bool, text: str = "") -> None:
        self.experiment, self._stop = experiment, threading.Event()

    def outcomes(self, on_progress: Callable[[float], None]) -> list[SeedOutcome]:
        on_progress(0.5)
        self._stop.wait(GRADING_SECONDS)
        both = {"en": "width", "zh": "宽度"}
        plot = {"kind": "line", "title": both, "x": [1, 2, 3], "series": [{"name": both, "y": [1, 4, 9]}]}
        check = {"says": both, "holds": True, "got": "1", "due": "< 2"}
        told = {"columns": [both], "rows": [[16]], "plots": [plot], "checks": [check], "seen": both}
        return [outcome_of(self.experiment.id, 0, told)]

    def kill(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._stop.set()


class PlayedApp(AttnApp):
    """The app with a fake judge; it does not suspend itself for an editor, since there is no terminal."""

    def __init__(self, workspace: Workspace, rng: Random, screen: Any) -> None:
        super().__init__(workspace, rng, screen)
        self.grader = PlayedJudge()

    def suspend(self) -> Any:
        return contextlib.nullcontext()


def install() -> None:
    """Replace experiments by fakes, so that they start no process."""
    experiment_screen.ChildRun = PlayedExperiment  # type: ignore[assignment,misc]
