"""A kernel that a GPU accepts is put to Triton's interpreter as well, and reaches what it reaches in both.

Compiled, a kernel is judged by its values alone: past the end of a tensor there may be memory, of two programs that
store to one place one comes last, and what is loaded and stored is not counted. Grading and proving both ask here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.domain.rungs import RUNGS
from attncli.judge.messages import say
from attncli.sandbox.placement import AWAY


def interpreted_too(
    report: GradeReport, kernel: bool, device: str, interpret: Callable[[], GradeReport]
) -> GradeReport:
    """The report of a file on a device; of a kernel that reaches a rung on a GPU the one that reaches less.

    `interpret` grades the same file in the interpreter, on the CPU. Where that changes nothing, its results stand in
    place of those that a GPU has nothing to say to.
    """
    if not kernel or device not in AWAY or report.rung == "none":
        return report
    found = interpret()
    seconds = round(report.seconds + found.seconds, 3)
    if _height(found) < _height(report):
        return replace(found, seconds=seconds, device_note=say("interpreter-objects"))
    asked = {check.name: check for check in found.checks}
    checks = tuple(_told(check, asked.get(check.name)) for check in report.checks)
    return replace(report, checks=checks, seconds=seconds, device_note=say("interpreted-too"))


def without_gpu(report: GradeReport, why: str) -> GradeReport:
    """The report of a file that runs on the CPU, since the GPU cannot be used."""
    return replace(report, device_note=say("gpu-unusable", why=why))


def _height(report: GradeReport) -> int:
    return ("none", *RUNGS).index(report.rung)


def _told(compiled: CheckResult, interpreted: CheckResult | None) -> CheckResult:
    """The result in the interpreter, of a check to which a GPU has nothing to say."""
    return interpreted if interpreted is not None and compiled.required and compiled.status == "info" else compiled
