"""Order a report: a forbidden call comes before the failures that it causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attncli.domain.grade_report import CheckResult, GradeReport, read
from attncli.domain.grade_report_text import deciding_checks
from in_process import REFERENCE, grade, write_challenge

FORBIDDEN = REFERENCE.replace("(x * weight).sum(-1)", "(x * weight).cumsum(-1)[:, :, 3]")


def deciding_check(report: dict[str, Any]) -> CheckResult | None:
    return next(iter(deciding_checks(read(GradeReport, report).checks)), None)


def said(report: dict[str, Any]) -> str:
    decided = deciding_check(report)
    return f"{decided.name}: {decided.message.en}" if decided else "nothing"


def test_a_forbidden_call_leads_the_faults_that_follow_from_it(tmp_path: Path) -> None:
    report = grade(write_challenge(tmp_path), FORBIDDEN)
    failed = [check["name"] for check in report["checks"] if check["status"] == "fail"]
    assert failed[0] == report["checks"][0]["name"] == "forbidden" and "edge-cases" in failed
    assert said(report).startswith("forbidden: line 3: Tensor.cumsum is not allowed here")


def test_so_does_an_import_that_is_not_allowed(tmp_path: Path) -> None:
    report = grade(write_challenge(tmp_path), "import no_such_module\n" + REFERENCE)
    assert said(report).startswith("forbidden: line 1: imports no_such_module")
    assert [check["name"] for check in report["checks"] if check["status"] == "fail"] == ["forbidden", "loads"]


@pytest.mark.parametrize("source", [REFERENCE.replace("scale\n", "3\n"), "def"])
def test_without_one_the_first_fault_leads_in_the_order_of_the_checks(tmp_path: Path, source: str) -> None:
    report = grade(write_challenge(tmp_path), source)
    failed = [check["name"] for check in report["checks"] if check["status"] == "fail"]
    decided = deciding_check(report)
    assert report["checks"][0]["name"] == "loads" and decided is not None and decided.name == failed[0]


def test_a_badge_leads_nothing(tmp_path: Path) -> None:
    spec = {"required": ["loads", "matches-reference"], "badges": ["forbidden"]}
    report = grade(write_challenge(tmp_path, spec), REFERENCE.replace(".sum(-1)", ".cumsum(-1)[..., -1]"))
    assert report["checks"][0]["name"] == "loads" and said(report) == "nothing"
