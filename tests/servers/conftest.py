"""A workspace over a bank with marked secrets, and a judge that answers at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attncli.config import Settings
from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.i18n import Localised
from attncli.judge.client import GradeRequest, OnCheck
from attncli.paths import Home
from attncli.practice.grade import Judge
from attncli.practice.workspace import Workspace
from moved_clock import Clock
from random_assistant import write_bank, write_secrets


class InstantGrader(Judge):
    """A judge that rejects every submission."""

    def restart(self) -> None:
        """Do nothing, as there is no process."""

    def grade(self, request: GradeRequest, on_check: OnCheck | None = None) -> GradeReport:
        said = CheckResult(name="loads", status="fail", message=Localised("no", "不"), reason="exception")
        return GradeReport(challenge=request.spec["id"], file=request.filename, verdict="rejected", checks=(said,))


OpenSecrets = Callable[[str], Workspace]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_secrets(tmp_path: Path, small_impl: Path, clock: Clock) -> Iterator[OpenSecrets]:
    """`open_secrets(name)` opens workspaces, each with its own home, over the same bank and challenge."""
    bank = write_bank(tmp_path / "secrets")
    write_secrets(small_impl / "basics" / "double")
    opened: list[Workspace] = []

    def make(name: str) -> Workspace:
        settings = Settings(fuzz=False, new_per_day=100)
        opened.append(Workspace.open(Home(tmp_path / name), clock, "en", settings, bank, small_impl))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()
