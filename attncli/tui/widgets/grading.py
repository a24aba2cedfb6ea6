"""A grading as it happens and what came of it: checks, counterexample, the mistake it looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from attncli.domain.challenge import RUNGS, Challenge
from attncli.domain.grade_report import CheckResult, Counterexample, GradeReport, RepairedBugs
from attncli.domain.text import Lang, printable
from attncli.practice.challenges import Hint, next_unsolved, reference, solving_source
from attncli.practice.start import without_docstring
from attncli.practice.workspace import Workspace
from attncli.tui.formulas import inline
from attncli.tui.widgets.basics import Fold, Lined, Page, Plain, beside, heading, left, mount_in
from attncli.tui.widgets.card import FollowUps, Questions
from attncli.tui.widgets.session import Progress
from attncli.words.after_solving_texts import YOUR_CODE
from attncli.words.app_texts import TEXTS, say
from attncli.words.counterexample_lines import Answers, counterexample_lines
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
from attncli.words.statement_texts import EVERYWHERE, HARDENED, Statement

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


# The checks of a grading, each with what it asks beside its name; what a failed one says stands below it.

_STYLES = {
    "pass": "$success",
    "fail": "bold $error",
    "harden": "bold $warning",
    "skipped": "$text-muted",
    "info": "$primary",
    "running": "bold",
}
_NAME, _STATUS, _BELOW = 19, 11, 4


class CheckList(Lined):
    """`checks` are those of a report, or the judge's events."""

    DEFAULT_CSS = """
    CheckList { height: auto; width: 1fr; margin: 0 0 1 0; }
    """

    def __init__(self, checks: Sequence[CheckResult], lang: Lang) -> None:
        super().__init__()
        self.checks = checks
        self.lang: Lang = lang

    def show(self, checks: Sequence[CheckResult]) -> None:
        self.checks = checks
        self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        return [line for check in self.checks for line in self._check(check, width)]

    def _check(self, check: CheckResult, width: int) -> list[Content]:
        status, message = status_of(check), told(check, self.lang)
        told_below = check.status == "fail" and message
        head = Content.assemble(
            (left(say(f"status.{status}", self.lang), _STATUS), _STYLES[status]),
            left(check.name, _NAME),
        )
        about = Content.styled(printable(self._about(check, "" if told_below else message)), "$text-muted")
        lines = beside(head, about, width)
        return [*lines, *indented(message, width)] if told_below else lines

    def _about(self, check: CheckResult, message: str) -> str:
        key = f"check.{check.name}"
        about = message if message and check.status != "pass" else say(key, self.lang) if key in TEXTS else ""
        return about if check.required else f"{about}{say('status.badge', self.lang)}"


def indented(text: str, width: int) -> list[Content]:
    """Lines of `text` wrapped to `width`, set in by four cells."""
    lines = [part for line in text.splitlines() for part in Content(line).wrap(max(10, width - _BELOW))]
    return [Content(" " * _BELOW) + line for line in lines]


# The smallest input that shows what is wrong: the arguments, then expected beside got.


class CounterexampleView(Lined):
    """Its lines under a title; what is longer than the screen is wide is wrapped."""

    DEFAULT_CSS = """
    CounterexampleView { height: auto; width: 1fr; margin: 0 0 1 0; }
    """

    def __init__(
        self,
        shown: Counterexample,
        lang: Lang,
        file: str = "",
        title: str = "counterexample.title",
        answers: Answers | None = None,
    ) -> None:
        super().__init__()
        self._shown, self._file, self._title, self._answers = shown, file, title, answers
        self.lang: Lang = lang

    def lines(self, width: int) -> list[Content]:
        lines = [Content.styled(say(self._title, self.lang), "bold $primary")]
        for style, line in counterexample_lines(self._shown, width - 2, self.lang, self._file, self._answers):
            text = Content.styled(line, "$text-muted" if style == "note" else "")
            parts = text.wrap(max(10, width - 2)) if style == "place" else [text]
            lines += [Content("  ") + part for part in parts]
        return lines


# What a challenge asks for, and the help that was taken, as parts of its statement.


def help_taken(hints: Sequence[Hint], reference: str, lang: Lang) -> Iterable[Widget]:
    """The hints that were asked for, and the reference where it was seen."""
    from attncli.tui.widgets.markdown import CardMarkdown

    for hint in hints:
        yield heading(say("challenge.hint", lang, n=hint.number, total=hint.total))
        yield CardMarkdown(hint.text[lang])
    if reference:
        yield heading(say("challenge.solution", lang))
        yield CardMarkdown(f"```python\n{reference.rstrip()}\n```")


def asked_for(challenge: Challenge, statement: Statement, lang: Lang, unfolded: bool) -> Iterable[Widget]:
    """What solves it, what all challenges ask, and, folded, what hardens it."""
    from attncli.tui.widgets.markdown import CardMarkdown

    yield CardMarkdown(statement.first[lang])
    yield heading(EVERYWHERE[lang])
    yield CardMarkdown(statement.everywhere[lang])
    if statement.hardened[lang]:
        yield Fold(HARDENED[lang], CardMarkdown(statement.hardened[lang]), lang, unfolded)
    yield Plain(say("challenge.needs", lang, checks=", ".join(challenge.required)))
    if challenge.forbidden:
        yield Plain(say("challenge.forbidden", lang, calls=", ".join(challenge.forbidden)))


# What comes after a challenge is solved: the learner's code beside the reference, what is asked next, the next one.

LEAST_BESIDE = 70


def after_solving(
    workspace: Workspace, challenge: Challenge, lang: Lang, opened: set[int], questions: Questions
) -> Iterator[Widget]:
    """What comes once a challenge is solved; nothing before. Code stands beside code: the statement is above."""
    source = solving_source(workspace, challenge.id)
    if source is not None:
        sources = without_docstring(source), without_docstring(reference(challenge))
        yield AfterSolving(challenge, sources, next_unsolved(workspace, challenge.id), lang, opened, questions)


class AfterSolving(Vertical):
    """`opened` holds the places of the answers that are open; it outlives this widget."""

    DEFAULT_CSS = """
    AfterSolving { height: auto; width: 1fr; }
    AfterSolving .heading { color: $primary; text-style: bold; height: auto; }
    AfterSolving .next { height: auto; margin: 0 0 1 0; }
    AfterSolving > Horizontal { height: auto; }
    AfterSolving > Horizontal > Vertical { height: auto; width: 1fr; }
    AfterSolving.-narrow > Horizontal { layout: vertical; }
    """

    def __init__(
        self,
        challenge: Challenge,
        sources: tuple[str, str],
        following: Challenge | None,
        lang: Lang,
        opened: set[int],
        questions: Questions,
    ) -> None:
        super().__init__()
        self._challenge, self._sources, self._following = challenge, sources, following
        self._lang, self._opened, self._questions = lang, opened, questions

    def compose(self) -> ComposeResult:
        from attncli.tui.widgets.markdown import CardMarkdown

        if self._challenge.follow_ups:
            yield heading(say("after.asked-next", self._lang))
            yield FollowUps(self._challenge.follow_ups, self._opened, self._lang, self._questions)
        if self._following is not None:
            yield Plain(say("after.next", self._lang, title=self._following.title[self._lang]), classes="next")
        with Horizontal():
            for title, source in zip(
                (YOUR_CODE[self._lang], say("challenge.solution", self._lang)), self._sources, strict=True
            ):
                with Vertical():
                    yield heading(title)
                    yield CardMarkdown(f"```python\n{source.rstrip()}\n```")

    def on_resize(self, event: events.Resize) -> None:
        """Code stands side by side where there is room for it."""
        self.set_class(event.size.width < LEAST_BESIDE, "-narrow")

    def open_next_answer(self) -> None:
        """Opens the first answer that is still closed."""
        for follow_ups in self.query(FollowUps):
            follow_ups.open_next()
