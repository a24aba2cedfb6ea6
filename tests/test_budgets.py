"""Run the budget benchmark in its short form; it must survive a row that cannot be measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def budgets(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import budgets

    return budgets


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.sandbox
def test_the_short_form_measures_every_row(budgets):
    command = [sys.executable, str(ROOT / "benchmarks" / "budgets.py"), "--quick"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    rows = [budget.what for measurement in budgets.MEASUREMENTS for budget in measurement.budgets]
    assert len(rows) == 12
    assert [row for row in rows if row not in run.stdout] == [], run.stdout + run.stderr
    assert "FAILED" not in run.stdout
    assert run.returncode == 0


def test_a_row_that_fails_is_named_and_the_next_one_follows(budgets, capsys):
    child = [sys.executable, "-c", "exit('no such card')"]
    for failing, reason in (
        (lambda plan: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda plan: subprocess.run(child, check=True, capture_output=True, text=True), "exit code 1 of"),
    ):
        plan = budgets.Plan(1, [])
        bad = budgets.Measurement([budgets.Budget("first", 1), budgets.Budget("second", 2)], failing)
        good = budgets.Measurement([budgets.Budget("third", 3)], lambda plan: [4.0])
        assert [bad.run(plan), good.run(plan)] == [False, True]
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines] == ["FAILED", "FAILED", "OVER"]
        assert "first" in lines[0] and "second" in lines[1] and all(reason in line for line in lines[:2])
