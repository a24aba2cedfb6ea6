"""A grading as it happens and what came of it: checks, counterexample, the mistake it looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from textual.content import Content
from textual.widget import Widget

from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import CheckResult, GradeReport, RepairedBugs
from attncli.domain.rungs import RUNGS
from attncli.domain.text import Lang
from attncli.tui.markup import inline
from attncli.tui.mounting import mount_in
from attncli.tui.widgets.check_list import CheckList
from attncli.tui.widgets.long_text import Page
from attncli.tui.widgets.plain import Plain, heading
from attncli.tui.widgets.progress_line import Progress
from attncli.words.app_texts import say
from attncli.words.grade_report_texts import (
    deciding_checks,
    diagnosis_lines,
    follows,
    headline,
    status_of,
    told,
    unproved,
)
from attncli.words.repair_texts import repaired_lines

_SIGNS = {"none": "✗", "solved": "✓", "hardened": "✓✓"}


class GradeReportView(Page):
    """`begin`, then `check` for every event, then `show` with the report or `say_failed`."""

    DEFAULT_CSS = """
    GradeReportView > .verdict { text-style: bold; margin: 0 0 1 0; padding: 0 1; border-left: thick $error; }
    GradeReportView > .verdict.-accepted { border-left: thick $success; }
    GradeReportView > Progress { margin: 0 0 1 0; }
    GradeReportView > .heading { color: $primary; text-style: bold; }
    GradeReportView > .lines { margin: 0 0 1 0; }
    """

    def __init__(self, challenge: Challenge, lang: Lang) -> None:
        super().__init__(id="report")
        self.challenge = challenge
        self.lang: Lang = lang
        self._checks: dict[str, CheckResult] = {}
        self._total = len(challenge.required) + len(challenge.badges)

    async def begin(self) -> None:
        """The judge is being asked."""
        self._checks = {}
        now = Plain(say("challenge.starting", self.lang), classes="now")
        await self._replace([now, Progress(0, self._total), CheckList([], self.lang)])

    async def clear(self) -> None:
        """Another file is asked about from now on."""
        await self._replace([])

    def check(self, check: CheckResult) -> None:
        """A check began or ended."""
        self._checks[check.name] = check
        done = sum(found.status != "running" for found in self._checks.values())
        if self.query(".now"):
            self.query_one(".now", Plain).update(say("challenge.grading", self.lang, check=check.name))
            self.query_one(Progress).show(done, max(self._total, len(self._checks)))
            self.query_one(CheckList).show(list(self._checks.values()))

    async def say_failed(self, text: str) -> None:
        """There is no verdict; `text` says why."""
        await self._replace([Plain(text, classes="verdict")])

    async def show(self, report: GradeReport, after: str) -> None:
        """The report, and `after`: when the challenge comes back."""
        await self._replace(self._report_parts(report, after))
        self.scroll_home(animate=False)

    async def _replace(self, parts: Sequence[Widget] | Iterator[Widget]) -> None:
        await self.remove_children()
        await mount_in(self, parts)

    def _report_parts(self, report: GradeReport, after: str) -> Iterator[Widget]:
        yield self._verdict(report, after)
        if report.repaired is not None:
            yield from self._repaired(report, report.repaired)
        parts = [self._mistake(report), self._first_failure(report.checks, Path(report.file).name)]
        for widgets in reversed(parts) if any(follows(c, report.checks) for c in report.checks) else parts:
            yield from widgets
        yield self._heading("verdict.checks")
        yield CheckList(report.checks, self.lang)
        if report.printed:
            yield self._heading("verdict.printed")
            yield Plain(report.printed, classes="lines")

    def _mistake(self, report: GradeReport) -> Iterator[Widget]:
        """The mistake it looks like, or two."""
        told = diagnosis_lines(report, self.challenge.mistakes, self.lang)
        if lines := [Content.assemble(inline(says), (cards, "$text-muted")) for says, cards in told]:
            yield self._heading("verdict.diagnosis")
            yield Plain(Content("\n").join(lines), classes="lines")

    def _repaired(self, report: GradeReport, repaired: RepairedBugs) -> Iterator[Widget]:
        """How many of the planted bugs are mended, and what one observes of the others."""
        yield self._heading("verdict.repaired")
        lines = [inline(line) for line in repaired_lines(repaired, report.accepted, self.lang)]
        yield Plain(Content("\n").join(lines), classes="lines")

    def _first_failure(self, checks: Sequence[CheckResult], file: str) -> Iterator[Widget]:
        failed = deciding_checks(checks)
        if not failed:
            return
        heading = "verdict.to-harden" if status_of(failed[0]) == "harden" else "verdict.first-failure"
        yield self._heading(heading, check=failed[0].name)
        yield Plain(told(failed[0], self.lang), classes="lines")
        others = [check for check in failed if not follows(check, checks)]
        shown = next((check.counterexample for check in others if check.counterexample), None)
        if shown is not None:
            from attncli.tui.widgets.counterexample_view import CounterexampleView

            yield CounterexampleView(shown, self.lang, file)

    def _heading(self, key: str, **values: object) -> Plain:
        return heading(say(key, self.lang, **values))

    def _verdict(self, report: GradeReport, after: str) -> Plain:
        summary = say("verdict.summary", self.lang, **report.score, seconds=f"{report.seconds:.1f}")
        is_solved, missing, said = report.rung in RUNGS, ", ".join(unproved(report)), headline(report, self.lang)
        parts = [
            summary,
            say("verdict.exam", self.lang, seed=report.seed) if report.seed else "",
            say("verdict.unproved", self.lang, checks=missing) if missing else "",
            report.device_note[self.lang],
            after,
            say("verdict.fresh", self.lang) if report.accepted else "",
        ]
        sign = "!" if report.verdict == "error" else _SIGNS[report.rung]
        head = (f"{sign} {said[:1].upper()}{said[1:]}", "$success" if is_solved else "$error")
        whole = Content.assemble(head, "  ", " · ".join(filter(None, parts)))
        return Plain(whole, classes="verdict -accepted" if is_solved else "verdict")
