"""A grading as it happens and what came of it: checks, counterexample, the mistake it looks like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.content import Content
from textual.widget import Widget

from attncli.domain.challenge import Challenge
from attncli.domain.rungs import RUNGS
from attncli.domain.text import Lang
from attncli.tui.markup import inline
from attncli.tui.widgets.check_list import Check, CheckList
from attncli.tui.widgets.page import Page
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.progress_line import Progress
from attncli.words.app_texts import say
from attncli.words.reports import deciding_checks, follows, status_of, told, unproved


class GradeReport(Page):
    """`begin`, then `check` for every event, then `show` with the report or `say_failed`."""

    DEFAULT_CSS = """
    GradeReport > .verdict { text-style: bold; margin: 0 0 1 0; padding: 0 1; border-left: thick $error; }
    GradeReport > .verdict.-accepted { border-left: thick $success; }
    GradeReport > Progress { margin: 0 0 1 0; }
    GradeReport > .heading { color: $primary; text-style: bold; }
    GradeReport > .lines { margin: 0 0 1 0; }
    """

    def __init__(self, challenge: Challenge, lang: Lang) -> None:
        super().__init__(id="report")
        self.challenge = challenge
        self.lang: Lang = lang
        self._checks: dict[str, Check] = {}
        self._total = len(challenge.required) + len(challenge.badges)

    async def begin(self) -> None:
        """The judge is being asked."""
        self._checks = {}
        now = Plain(say("challenge.starting", self.lang), classes="now")
        await self._replace([now, Progress(0, self._total), CheckList([], self.lang)])

    def check(self, event: Check) -> None:
        """A check began or ended."""
        self._checks[event["name"]] = event
        done = sum(check["status"] != "running" for check in self._checks.values())
        if self.query(".now"):
            self.query_one(".now", Plain).update(say("challenge.grading", self.lang, check=event["name"]))
            self.query_one(Progress).show(done, max(self._total, len(self._checks)))
            self.query_one(CheckList).show(list(self._checks.values()))

    async def say_failed(self, text: str) -> None:
        """There is no verdict; `text` says why."""
        await self._replace([Plain(text, classes="verdict")])

    async def show(self, report: Mapping[str, Any], after: str) -> None:
        """The report, and `after`: when the challenge comes back."""
        await self._replace(self._report_parts(report, after))
        self.scroll_home(animate=False)

    async def _replace(self, parts: Sequence[Widget] | Iterator[Widget]) -> None:
        await self.remove_children()
        await self.mount_all(parts)

    def _report_parts(self, report: Mapping[str, Any], after: str) -> Iterator[Widget]:
        yield self._verdict(report, after)
        parts = [self._mistake(report), self._first_failure(report["checks"], Path(report["file"]).name)]
        for widgets in reversed(parts) if any(follows(c, report["checks"]) for c in report["checks"]) else parts:
            yield from widgets
        yield self._heading("verdict.checks")
        yield CheckList(report["checks"], self.lang)
        if report.get("printed"):
            yield self._heading("verdict.printed")
            yield Plain(str(report["printed"]), classes="lines")

    def _mistake(self, report: Mapping[str, Any]) -> Iterator[Widget]:
        """The mistake it looks like, or two."""
        if not report.get("diagnosis"):
            return
        yield self._heading("verdict.diagnosis")
        told = [self._diagnosis(entry) for entry in report["diagnosis"]]
        two = [Content(say("verdict.two-mistakes", self.lang))] if report["diagnosis"][0].get("beside") else []
        yield Plain(Content("\n").join([*two, *told]), classes="lines")

    def _first_failure(self, checks: Sequence[Check], file: str) -> Iterator[Widget]:
        failed = deciding_checks(checks)
        if not failed:
            return
        heading = "verdict.to-harden" if status_of(failed[0]) == "harden" else "verdict.first-failure"
        yield self._heading(heading, check=failed[0]["name"])
        yield Plain(told(failed[0], self.lang), classes="lines")
        others = [check for check in failed if not follows(check, checks)]
        shown = next((check["counterexample"] for check in others if check.get("counterexample")), None)
        if shown is not None:
            from attncli.tui.widgets.counterexample_view import Counterexample

            yield Counterexample(shown, self.lang, file)

    def _heading(self, key: str, **values: object) -> Plain:
        return Plain(say(key, self.lang, **values), classes="heading")

    def _verdict(self, report: Mapping[str, Any], after: str) -> Plain:
        score = report["score"]
        summary = say(
            "verdict.summary",
            self.lang,
            passed=score["passed"],
            total=score["total"],
            seconds=f"{report['seconds']:.1f}",
        )
        accepted, missing = report["verdict"] == "accepted", ", ".join(unproved(report))
        reached = report.get("rung") if report.get("rung") in RUNGS else report["verdict"]
        parts = [say(f"verdict.{reached}", self.lang), summary]
        parts.append(say("verdict.unproved", self.lang, checks=missing) if missing else "")
        parts.insert(2, say("verdict.exam", self.lang, seed=report["seed"]) if report["seed"] else "")
        parts += [after, say("verdict.fresh", self.lang) if accepted else ""]
        head = Content.assemble(
            (parts[0], "$success" if reached in RUNGS else "$error"), "  ", " · ".join(filter(None, parts[1:]))
        )
        return Plain(head, classes="verdict -accepted" if reached in RUNGS else "verdict")

    def _diagnosis(self, entry: Mapping[str, Any]) -> Content:
        if "says_zh" in entry:
            return Content(str(entry["says_zh" if self.lang == "zh" else "says"]))
        known = self.challenge.mistakes.get(entry["wrong"])
        says = (known.says[self.lang] if known else "") or str(entry["says"])
        cards = say("verdict.cards", self.lang, cards=", ".join(entry["cards"])) if entry.get("cards") else ""
        return Content.assemble(inline(says), "  " if cards else "", (cards, "$text-muted"))
