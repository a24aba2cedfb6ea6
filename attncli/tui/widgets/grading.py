"""A grading while it runs and its report: checks, counterexample, likely mistake; and the parts of a statement.

`CardMarkdown` is imported in functions, because Textual's Markdown loads slowly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from attncli.domain.challenge import Challenge
from attncli.domain.checks import PURPOSES
from attncli.domain.counterexample_text import Answers, counterexample_lines
from attncli.domain.grade_report import CheckResult, Counterexample, GradeReport, RepairedBugs
from attncli.domain.grade_report_text import (
    deciding_checks,
    diagnosis_lines,
    follows,
    headline,
    repaired_lines,
    status_of,
    told,
    unproved,
)
from attncli.domain.statement import EVERYWHERE, HARDENED, Statement
from attncli.domain.text import printable
from attncli.domain.vocabulary import RUNGS
from attncli.i18n import Lang, Localised, _
from attncli.practice.challenges import Hint, reference, solving_source
from attncli.practice.start import without_docstring
from attncli.practice.today import next_unsolved
from attncli.practice.workspace import Workspace
from attncli.tui.formulas import inline
from attncli.tui.widgets.basics import Fold, LineWidget, Page, Plain, beside, heading, left, mount_in
from attncli.tui.widgets.card import FollowUps, Questions
from attncli.tui.widgets.session import Progress

_SIGNS = {"none": "✗", "solved": "✓", "hardened": "✓✓"}


class GradeReportView(Page):
    """The report of a grading. Call `begin`, `check` for every event, then `show` or `show_failure`."""

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
        """Show that the judge is starting."""
        self._checks = {}
        now = Plain(_("Starting the judge")[self.lang], classes="now")
        await self._replace([now, Progress(0, self._total), CheckList([], self.lang)])

    async def clear(self) -> None:
        """Empty the view for another file."""
        await self._replace([])

    def check(self, check: CheckResult) -> None:
        """Show that a check began or ended."""
        self._checks[check.name] = check
        done = sum(other.status != "running" for other in self._checks.values())
        if self.query(".now"):
            self.query_one(".now", Plain).update(_("Grading: {check}", check=check.name)[self.lang])
            self.query_one(Progress).show(done, max(self._total, len(self._checks)))
            self.query_one(CheckList).show(list(self._checks.values()))

    async def show_failure(self, text: str) -> None:
        """Show `text`, the reason why there is no verdict."""
        await self._replace([Plain(text, classes="verdict")])

    async def show(self, report: GradeReport, after: str, diagnosis: bool = True) -> None:
        """Show the report and `after`, the next due date; with `diagnosis`, name the likely mistake too."""
        await self._replace(self._report_parts(report, after, diagnosis))
        self.scroll_home(animate=False)

    async def _replace(self, parts: Sequence[Widget] | Iterator[Widget]) -> None:
        await self.remove_children()
        await mount_in(self, parts)

    def _report_parts(self, report: GradeReport, after: str, diagnosis: bool) -> Iterator[Widget]:
        yield self._verdict(report, after)
        if report.repaired is not None:
            yield from self._repaired(report, report.repaired)
        parts = [self._mistake(report, diagnosis), self._first_failure(report.checks, Path(report.file).name)]
        for widgets in reversed(parts) if any(follows(c, report.checks) for c in report.checks) else parts:
            yield from widgets
        yield heading(_("All checks")[self.lang])
        yield CheckList(report.checks, self.lang)
        if report.printed:
            yield heading(_("Your file printed")[self.lang])
            yield Plain(report.printed, classes="lines")

    def _mistake(self, report: GradeReport, named: bool) -> Iterator[Widget]:
        """Yield the likely mistakes, two at most; unless `named`, yield only the key that shows them."""
        diagnosis = diagnosis_lines(report, self.challenge.mistakes, self.lang)
        lines = [Content.assemble(inline(text), (cards, "$text-muted")) for text, cards in diagnosis]
        if lines and not named:
            lines = [Content(_("v: show the likely mistake")[self.lang])]
        if lines:
            yield heading(_("Diagnosis")[self.lang])
            yield Plain(Content("\n").join(lines), classes="lines")

    def _repaired(self, report: GradeReport, repaired: RepairedBugs) -> Iterator[Widget]:
        """Yield how many of the planted bugs are fixed, and the symptoms of the others."""
        yield heading(_("Repair round")[self.lang])
        lines = [inline(line) for line in repaired_lines(repaired, report.accepted, self.lang)]
        yield Plain(Content("\n").join(lines), classes="lines")

    def _first_failure(self, checks: Sequence[CheckResult], file: str) -> Iterator[Widget]:
        failed = deciding_checks(checks)
        if not failed:
            return
        title = _("To harden: {check}") if status_of(failed[0]) == "harden" else _("First failure: {check}")
        yield heading(title.format(check=failed[0].name)[self.lang])
        yield Plain(told(failed[0], self.lang), classes="lines")
        others = [check for check in failed if not follows(check, checks)]
        shown = next((check.counterexample for check in others if check.counterexample), None)
        if shown is not None:
            yield CounterexampleView(shown, self.lang, file)

    def _verdict(self, report: GradeReport, after: str) -> Plain:
        summary = _("{passed} of {total} checks, {seconds} s", **report.score, seconds=f"{report.seconds:.1f}")[
            self.lang
        ]
        is_solved, missing, head = report.rung in RUNGS, ", ".join(unproved(report)), headline(report, self.lang)
        parts = [
            summary,
            _("new inputs (seed {seed})", seed=report.seed)[self.lang] if report.seed else "",
            _("not verified: {checks}", checks=missing)[self.lang] if missing else "",
            report.device_note[self.lang],
            after,
            _("f: grade again on new inputs")[self.lang] if report.accepted else "",
        ]
        sign = "!" if report.verdict == "error" else _SIGNS[report.rung]
        styled_head = (f"{sign} {head[:1].upper()}{head[1:]}", "$success" if is_solved else "$error")
        whole = Content.assemble(styled_head, "  ", " · ".join(filter(None, parts)))
        return Plain(whole, classes="verdict -accepted" if is_solved else "verdict")


# Checks and counterexamples

_STATUSES: dict[str, tuple[Localised, str]] = {
    "pass": (_("✓ pass"), "$success"),
    "fail": (_("✗ fail"), "bold $error"),
    "harden": (_("△ next"), "bold $warning"),
    "skipped": (_("– skipped"), "$text-muted"),
    "info": (_("i info"), "$primary"),
    "running": (_("› running"), "bold"),
}
_NAME, _STATUS, _BELOW = 19, 11, 4


class CheckList(LineWidget):
    """One line per check: status, name, and its purpose or message; the message of a failed check is below it.

    `checks` come from a report or from the judge's events.
    """

    DEFAULT_CSS = "CheckList { margin: 0 0 1 0; }"

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
        shown_below = check.status == "fail" and message
        word, style = _STATUSES[status]
        head = Content.assemble((left(word[self.lang], _STATUS), style), left(check.name, _NAME))
        about = Content.styled(printable(self._about(check, "" if shown_below else message)), "$text-muted")
        lines = beside(head, about, width)
        return [*lines, *_indented(message, width)] if shown_below else lines

    def _about(self, check: CheckResult, message: str) -> str:
        purpose = PURPOSES[check.name][self.lang] if check.name in PURPOSES else ""
        about = message if message and check.status != "pass" else purpose
        return about if check.required else about + _(" (badge)")[self.lang]


def _indented(text: str, width: int) -> list[Content]:
    """Return the lines of `text`, wrapped to `width` cells and indented."""
    lines = [part for line in text.splitlines() for part in Content(line).wrap(max(10, width - _BELOW))]
    return [Content(" " * _BELOW) + line for line in lines]


class CounterexampleView(LineWidget):
    """A counterexample under a title: the arguments, then expected and actual; places in the code are wrapped."""

    DEFAULT_CSS = "CounterexampleView { margin: 0 0 1 0; }"

    def __init__(
        self,
        shown: Counterexample,
        lang: Lang,
        file: str = "",
        title: Localised | None = None,
        answers: Answers | None = None,
    ) -> None:
        super().__init__()
        self._shown, self._file, self._answers = shown, file, answers
        self._title = title or _("Smallest counterexample")
        self.lang: Lang = lang

    def lines(self, width: int) -> list[Content]:
        lines = [Content.styled(self._title[self.lang], "bold $primary")]
        for style, line in counterexample_lines(self._shown, width - 2, self.lang, self._file, self._answers):
            text = Content.styled(line, "$text-muted" if style == "note" else "")
            parts = text.wrap(max(10, width - 2)) if style == "place" else [text]
            lines += [Content("  ") + part for part in parts]
        return lines


# Parts of a statement


def hints_and_solution(hints: Sequence[Hint], reference: str, lang: Lang) -> Iterable[Widget]:
    """Yield the hints taken, and the reference if it was seen."""
    from attncli.tui.widgets.markdown import CardMarkdown

    for hint in hints:
        yield heading(_("Hint {n} of {total}", n=hint.number, total=hint.total)[lang])
        yield CardMarkdown(hint.text[lang])
    if reference:
        yield heading(_("Reference")[lang])
        yield CardMarkdown(f"```python\n{reference.rstrip()}\n```")


def requirements(challenge: Challenge, statement: Statement, lang: Lang, unfolded: bool) -> Iterable[Widget]:
    """Yield the requirements of the first rung, those of all challenges, and, folded, those of the hardened rung."""
    from attncli.tui.widgets.markdown import CardMarkdown

    yield CardMarkdown(statement.first[lang])
    yield heading(EVERYWHERE[lang])
    yield CardMarkdown(statement.everywhere[lang])
    if statement.hardened[lang]:
        yield Fold(HARDENED[lang], CardMarkdown(statement.hardened[lang]), lang, unfolded)
    yield Plain(_("Checks of both rungs: {checks}", checks=", ".join(challenge.required))[lang])
    if challenge.forbidden:
        yield Plain(_("Forbidden calls: {calls}", calls=", ".join(challenge.forbidden))[lang])


# After solving

LEAST_BESIDE = 70
"""Cells from which the learner's code is shown beside the reference, not above it."""


def after_solving(
    workspace: Workspace, challenge: Challenge, lang: Lang, opened: set[int], questions: Questions
) -> Iterator[Widget]:
    """Yield an `AfterSolving` if the challenge is solved. Docstrings are left out: the statement is above."""
    source = solving_source(workspace, challenge.id)
    if source is not None:
        sources = without_docstring(source), without_docstring(reference(challenge))
        yield AfterSolving(challenge, sources, next_unsolved(workspace, challenge.id), lang, opened, questions)


class AfterSolving(Vertical):
    """Follow-ups, the next challenge, and the learner's code beside the reference.

    `opened` holds the indices of the open answers; it outlives this widget.
    """

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
            yield heading(_("What interviewers ask next (a opens the next answer)")[self._lang])
            yield FollowUps(self._challenge.follow_ups, self._opened, self._lang, self._questions)
        if self._following is not None:
            yield Plain(
                _("n: next challenge, {title}", title=self._following.title[self._lang])[self._lang], classes="next"
            )
        with Horizontal():
            for title, source in zip(
                (_("Your code")[self._lang], _("Reference")[self._lang]), self._sources, strict=True
            ):
                with Vertical():
                    yield heading(title)
                    yield CardMarkdown(f"```python\n{source.rstrip()}\n```")

    def on_resize(self, event: events.Resize) -> None:
        """Show the two sources side by side if there is room."""
        self.set_class(event.size.width < LEAST_BESIDE, "-narrow")

    def open_next_answer(self) -> None:
        """Open the first answer that is still closed."""
        for follow_ups in self.query(FollowUps):
            follow_ups.open_next()
