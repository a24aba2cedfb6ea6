"""The screen of one challenge (statement, editor, grading, hints, reference), and the screens that it opens.

The judge is asked in a thread, which posts messages; recomposing and reports take turns by the lock `composing`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from attncli.domain.challenge import MOST_BUGS
from attncli.domain.counterexample_text import Answers
from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport
from attncli.domain.vocabulary import STANDING_NAMES, track_title
from attncli.errors import AttnError, JudgeFailed
from attncli.i18n import N_, Lang, Localised, _, ngettext, pgettext
from attncli.practice import grade as grade_file
from attncli.practice.challenges import ChallengeStatus, Hint, is_solved, next_hint, show_solution, standings
from attncli.practice.grade import (
    GradeRequest,
    GradingCancelled,
    TryRequest,
    calls_of,
    counterexample_text,
    try_request,
)
from attncli.practice.record import interval_text
from attncli.practice.start import (
    OpenFile,
    Started,
    offers_rounds,
    open_round,
    solution_file,
    start_challenge,
    statement,
)
from attncli.practice.today import next_unsolved
from attncli.tui.screens.base import AttnScreen, ChoiceScreen, edit_externally, ensure_file, error_text
from attncli.tui.widgets.basics import (
    CheckChanged,
    Fold,
    Graded,
    GradingFailed,
    LineField,
    Page,
    Plain,
    TitleBar,
    Tried,
    heading,
    mount_anew,
    mount_in,
)
from attncli.tui.widgets.grading import (
    AfterSolving,
    CounterexampleView,
    GradeReportView,
    after_solving,
    hints_and_solution,
    requirements,
)

_NOT_STARTED = _("Press e to start in your editor, or w to start here.")


class ChallengeScreen(AttnScreen):
    """A challenge. Narrow terminals show the statement or the report (Tab), wide ones both."""

    CSS_PATH = "challenge.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - Textual's own declaration
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", N_("Edit")),
        Binding("w", "write", N_("Write here")),
        Binding("g", "grade", N_("Grade")),
        Binding("f", "fresh", N_("New inputs")),
        Binding("t", "own_case", N_("Your case")),
        Binding("T", "own_tests", N_("Write tests"), show=False, key_display="T"),
        Binding("h", "hint", N_("Hint")),
        Binding("o", "solution", N_("Solution")),
        Binding("c", "card", N_("Card")),
        Binding("v", "diagnosis", N_("Likely mistake"), show=False),
        Binding("b", "bug", N_("Debug")),
        Binding("r", "repair", N_("Repair")),
        Binding("m", "switch_file", N_("Your solution or the round"), show=False),
        Binding("x", "harden", N_("Hardening requirements")),
        Binding("a", "answer", N_("Open the next follow-up"), show=False),
        Binding("n", "next", N_("Next challenge"), show=False),
        Binding("tab", "other_side(True)", N_("Report"), key_display="Tab", priority=True),
        Binding("tab", "other_side(False)", N_("Statement"), key_display="Tab", priority=True),
        Binding("escape", "cancel", N_("Cancel"), key_display="Esc"),
        Binding("escape,q", "back", N_("Back"), key_display="Esc"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__()
        self.challenge_id = id
        self.hints: list[Hint] = []
        self.reference = ""
        self.on_own_file = False
        self.report: GradeReport | None = None
        self.request: GradeRequest | None = None
        self.options = grade_file.GradeOptions()
        self.unfolded = False
        self.opened: set[int] = set()

    def title_bar(self) -> TitleBar:
        self.challenge = self.workspace.library.challenge(self.challenge_id)
        self.statement = statement(self.challenge)
        self._choose_file()
        detail = track_title(self.challenge.track)[self.lang]
        level = _("level {level} of 5", level=self.challenge.level)[self.lang]
        return TitleBar(self.challenge.title[self.lang], f"{detail} · {level}", self._status())

    def _choose_file(self) -> None:
        """Work on the open round, if there is one, unless the learner has switched to their own solution."""
        self.open_round = open_round(self.workspace, self.challenge)
        self.started_round = None if self.on_own_file else self.open_round
        own = solution_file(self.workspace, self.challenge_id)
        self.file = self.started_round.path if self.started_round else own

    def _status(self) -> str:
        found = self._found()
        status = STANDING_NAMES[found.standing][self.lang]
        return f"{status} · " + pgettext("challenge", "due")[self.lang] if found.is_due else status

    def _found(self) -> ChallengeStatus:
        listed = standings(self.workspace, self.challenge.track)
        return next(found for found in listed if found.challenge.id == self.challenge.id)

    def body(self) -> Iterable[Widget]:
        yield Page(*self._statement(), id="statement")
        yield GradeReportView(self.challenge, self.lang)

    def _statement(self) -> Iterable[Widget]:
        from attncli.tui.widgets.markdown import CardMarkdown

        lang = self.lang
        started = self.file.exists()
        file = _("File: {file} · t tests a case of your own", file=self.file) if started else _NOT_STARTED
        yield Plain(file[lang], id="file")
        if self.on_own_file and self.check_action("switch_file", ()):
            yield Plain(_("Press m to return to the bugs you were fixing.")[lang], classes="offer")
        elif self.started_round is None and offers_rounds(self.challenge) and self.check_action("repair", ()):
            yield Plain(_("Or press r for a repair round: fix 1 to 4 bugs in the reference.")[lang], classes="offer")
        if self.started_round is None and self.check_action("own_tests", ()):
            yield Plain(_("Or press T to write tests for it: they must tell right solutions from wrong ones.")[lang])
        if self.started_round is not None:
            task, text = task_of(self.started_round, self.file, lang)
            yield heading(task)
            yield CardMarkdown(text[lang])
            yield Plain(_("Your own solution is untouched: m switches to it.")[lang], classes="offer")
        yield from hints_and_solution(self.hints, self.reference, lang)
        yield from requirements(self.challenge, self.statement, lang, self.unfolded)
        if self.report is None and self.started_round is None:
            yield from self._after_solving()

    def _after_solving(self) -> Iterable[Widget]:
        return after_solving(self.workspace, self.challenge, self.lang, self.opened, self.question_of)

    async def _show_report(self, report: GradeReport, after: str, diagnosis: bool = False) -> None:
        view = self.query_one(GradeReportView)
        await view.show(report, after, diagnosis or self.workspace.settings.diagnosis)
        if report.accepted:
            await mount_in(view, self._after_solving())

    def action_answer(self) -> None:
        for after in self.query(AfterSolving):
            after.open_next_answer()

    def action_next(self) -> None:
        """Replace this screen by that of the next unsolved challenge."""
        following = next_unsolved(self.workspace, self.challenge_id)
        if following is None:
            self.notify(_("Every challenge is solved.")[self.lang])
        else:
            self.app.switch_screen(ChallengeScreen(following.id))

    def on_mount(self) -> None:
        super().on_mount()
        with self.attn.showing_errors():
            self.attn.grader.restart()

    def focus_first(self) -> None:
        self.query_one("#report" if self.has_class("-report") else "#statement").focus()

    async def _recompose(self) -> None:
        await super()._recompose()
        if self.report is not None:
            await self._show_report(self.report, self._next_due_text())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        grading_now = self.request is not None
        if action == "cancel":
            return grading_now
        if action == "other_side":
            return (grading_now or self.report is not None) and self.has_class("-report") != parameters[0]
        if action == "fresh":
            return not grading_now and self.report is not None and self.report.accepted
        if action in ("answer", "next"):
            return not grading_now and is_solved(self.workspace, self.challenge_id)
        if action == "switch_file":
            return not grading_now and self.open_round is not None
        if action in ("grade", "edit", "write", "bug", "repair", "own_case", "own_tests"):
            return not grading_now
        return not (action == "back" and grading_now)

    async def _show_statement(self) -> None:
        place = self.query_one("#statement")
        await mount_anew(place, self._statement())
        place.scroll_home(animate=False)
        self._turn(report=False)

    def _turn(self, report: bool) -> None:
        self.set_class(report, "-report")
        self.focus_first()
        self.refresh_bindings()

    def action_other_side(self, report: bool) -> None:
        self._turn(report)

    def action_harden(self) -> None:
        """Show or hide the requirements of the hardened rung."""
        self._turn(report=False)
        for fold in self.query(Fold):
            fold.turn()

    def on_fold_turned(self, message: Fold.Turned) -> None:
        self.unfolded = message.unfolded

    async def action_edit(self) -> None:
        if ensure_file(self, self.challenge_id, self.file):
            edit_externally(self, self.file)
            await self._show_statement()

    @work
    async def action_write(self) -> None:
        """Open the file in the app's own editor, then grade it if asked to."""
        from attncli.tui.screens.editor import EditorScreen  # loads a parser

        if not ensure_file(self, self.challenge_id, self.file):
            return
        grade = False
        with self.attn.showing_errors():
            editor = EditorScreen(OpenFile(self.file), self.challenge.title, self.statement.first, self.lang)
            grade = await self.app.push_screen_wait(editor) is True
        await self._show_statement()
        if grade:
            await self.action_grade()

    def action_own_case(self) -> None:
        """Open a case of the learner's own, starting from the last counterexample, if any."""
        if ensure_file(self, self.challenge_id, self.file):
            text = counterexample_text(self.challenge, self.report)
            self.app.push_screen(OwnCaseScreen(self.challenge_id, self.file, text))

    def action_own_tests(self) -> None:
        """Open the tests of the challenge, which the learner writes."""
        self.attn.show("own-tests", self.challenge_id)

    async def action_grade(self) -> None:
        await self._begin(grade_file.GradeOptions(rung=self.workspace.settings.rung))

    async def action_fresh(self) -> None:
        """Grade the same file on fresh inputs."""
        assert self.report is not None
        await self._begin(replace(self.options, seed=grade_file.fresh_seed(self.report)))

    async def _begin(self, options: grade_file.GradeOptions) -> None:
        if not self.file.exists():
            self.notify(_NOT_STARTED[self.lang], severity="warning")
            return
        try:
            self.request = grade_file.request_for(self.workspace, self.challenge_id, self.file, options)
        except AttnError as error:
            self.attn.show_error(error)
            return
        self.options = options
        await self.query_one(GradeReportView).begin()
        self._turn(report=True)
        self.refresh_bindings()
        self._grade(self.request)

    @work(thread=True, exclusive=True)
    def _grade(self, request: GradeRequest) -> None:
        """Wait for the judge in a thread; it reports line by line."""
        try:
            report = self.attn.grader.grade(request, self._post_check_changed)
        except JudgeFailed as error:
            self.post_message(GradingFailed(error))
        else:
            self.post_message(Graded(report))

    def _post_check_changed(self, check: CheckResult) -> None:
        self.post_message(CheckChanged(check))

    async def on_check_changed(self, message: CheckChanged) -> None:
        async with self.composing:
            self.query_one(GradeReportView).check(message.check)

    async def on_graded(self, message: Graded) -> None:
        request, self.request = self.request, None
        after = ""
        if request is not None and message.report.verdict != "error":
            self.report = message.report
            self._settle(request, message.report)
            after = self._next_due_text()
        async with self.composing:
            await self._show_report(message.report, after)
            for title in self.query(TitleBar):
                title.show_status(self._status())
        self._turn(report=True)
        self.refresh_bindings()

    def _settle(self, request: GradeRequest, report: GradeReport) -> None:
        """Record the attempt; if that fails, show the error, and the report anyway."""
        with self.attn.showing_errors():
            grade_file.settle(self.workspace, request, report)

    def _next_due_text(self) -> str:
        """Return when the challenge is next due, or an empty string if it is not scheduled."""
        schedule = self._found().schedule
        if schedule is None:
            return ""
        wait = max(timedelta(0), schedule.due_at - self.workspace.clock())
        return _("next due in {interval}", interval=interval_text(wait, self.lang))[self.lang]

    async def on_grading_failed(self, message: GradingFailed) -> None:
        self.request = None
        async with self.composing:
            await self.query_one(GradeReportView).show_failure(self._failed_text(message.error))
        self._turn(report=True)
        self.refresh_bindings()

    def _failed_text(self, error: JudgeFailed) -> str:
        cancelled = isinstance(error, GradingCancelled)
        return _("Grading cancelled.")[self.lang] if cancelled else error_text(error, self.lang)

    def action_cancel(self) -> None:
        self.attn.grader.cancel()

    async def action_diagnosis(self) -> None:
        """Name the likely mistake, which the setting `diagnosis` hides."""
        if self.report is not None:
            async with self.composing:
                await self._show_report(self.report, self._next_due_text(), diagnosis=True)

    def action_card(self) -> None:
        """Open the card that explains the likely mistake, else a card about the challenge."""
        mistakes = self.report.diagnosis if self.report else ()
        for card in [*(card for mistake in mistakes for card in mistake.cards), *self.challenge.cards]:
            if self.question_of(card) is not None:
                self.attn.show("card", card)
                return
        self.notify(_("No card explains this challenge yet.")[self.lang])

    async def action_hint(self) -> None:
        hint = next_hint(self.workspace, self.challenge_id)
        if hint.again:
            self.notify(_("There are no more hints.")[self.lang])
        self.hints = [*(seen for seen in self.hints if seen.number != hint.number), hint]
        await self._show_statement()

    async def action_bug(self) -> None:
        """Write a wrong solution to debug."""
        await self._start(None)

    @work
    async def action_repair(self) -> None:
        """Write the reference with as many bugs to find and fix as chosen, after a warning if it is not solved yet."""
        lang = self.lang
        if not offers_rounds(self.challenge):
            title = self.challenge.title[lang]
            self.notify(_("{title} has no repair round. Press b to debug a wrong solution.", title=title)[lang])
            return
        warning = _("You have not solved this yet, and a round shows the reference. How many bugs?")
        question = _("How many bugs?") if is_solved(self.workspace, self.challenge_id) else warning
        counts = {str(bugs): f" {bugs} " for bugs in range(1, MOST_BUGS + 1)}
        choices = {**counts, "": _("Esc  Cancel")[lang]}
        if bugs := await self.app.push_screen_wait(ChoiceScreen(question[lang], choices)):
            await self._start(int(bugs))

    async def _start(self, repair: int | None) -> None:
        """Write the file of a round, beside that of an earlier one, and show its task."""
        started = None
        with self.attn.showing_errors():
            id = self.challenge_id
            started = start_challenge(self.workspace, id, bug=repair is None, repair=repair, force=True)
        if started is None:
            return
        if started.kept is not None:
            self.notify(_("Your file is kept as {file}.", file=started.kept)[self.lang])
        self.on_own_file = True
        await self.action_switch_file()

    async def action_switch_file(self) -> None:
        """Turn from the learner's solution to the open round, or back."""
        self.on_own_file = not self.on_own_file
        self._choose_file()
        self.report = None
        await self.query_one(GradeReportView).clear()
        await self._show_statement()

    @work
    async def action_solution(self) -> None:
        """Show the reference, after asking, and record it as seen."""
        question = _("Show the reference? This is recorded: solving it today counts as Again.")
        if await self.confirm(question, _("y  Show"), _("n  Cancel")):
            with self.attn.showing_errors():
                self.reference = show_solution(self.workspace, self.challenge_id)
                await self._show_statement()


# A case of the learner's own


class CaseField(LineField):
    """A call with arguments; Enter tries it, ↓ goes to the answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.try_case", N_("Try"), key_display="Enter"),
        Binding("down", "screen.to_answers", N_("Down"), show=False),
    ]


class OwnCaseScreen(AttnScreen):
    """The reference's and the learner's answers to a typed call, side by side; nothing is recorded."""

    CSS_PATH = "challenge.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "to_field", N_("Your case")),
        Binding("escape", "cancel", N_("Cancel"), key_display="Esc"),
        Binding("escape,q", "back", N_("Back"), key_display="Esc"),
    ]

    def __init__(self, id: str, file: Path, text: str = "") -> None:
        super().__init__()
        self.challenge_id, self.file, self.text = id, file, text
        self.answers: BothAnswers | None = None
        self.failed: Localised | str = ""
        self.is_asking = False

    def title_bar(self) -> TitleBar:
        self.challenge = self.workspace.library.challenge(self.challenge_id)
        return TitleBar(_("Your own case")[self.lang], self.challenge.title[self.lang], self.file.name)

    def body(self) -> Iterable[Widget]:
        yield CaseField(
            self.text,
            placeholder=_("Arguments, e.g. torch.randn(1, 2, 4), 3, scale=0.5; or calls, separated by ;")[self.lang],
        )
        yield Page(*self._parts(), id="answers")

    def focus_first(self) -> None:
        self.query_one(CaseField).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text = event.value

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("try_case", "back"):
            return not self.is_asking
        return self.is_asking if action == "cancel" else True

    def _parts(self) -> Iterable[Widget]:
        if self.is_asking:
            yield Plain(_("Running both…")[self.lang], classes="note")
        elif self.failed:
            reason = self.failed if isinstance(self.failed, str) else self.failed[self.lang]
            yield Plain(_("Not run: {why}", why=reason)[self.lang], classes="verdict")
        elif self.answers is not None:
            yield from self._answers(self.answers)
        yield Plain(
            _(
                "Type arguments for {calls} to compare your file with the reference. Any Python works, e.g. "
                "torch.tensor([[1, 2]]), randn(2, 3), arange(4) or zeros(2, 3).bool(). The same text gives the same "
                "random numbers. Nothing is recorded.",
                calls=", ".join(self.challenge.entry),
            )[self.lang],
            classes="muted",
        )
        yield Plain("\n".join(calls_of(self.challenge)), classes="muted")

    def _answers(self, answers: BothAnswers) -> Iterable[Widget]:
        lang = self.lang
        if answers.same:
            yield Plain(_("✓ Both answers are the same")[lang], classes="verdict -same")
        else:
            text = _("! Cannot compare: {how}") if answers.same is None else _("✗ The answers differ: {how}")
            yield Plain(text.format(how=answers.said)[lang], classes="verdict")
        if answers.forbidden:
            what = _("; ")[lang].join(line[lang] for line in answers.forbidden)
            yield Plain(
                _("The challenge never asks for this; differences are fine: {what}", what=what)[lang], classes="note"
            )
        if answers.shown is not None:
            names = Answers(_("the reference"), _("your file"), answers.same is False, with_error_text=True)
            yield CounterexampleView(answers.shown, lang, self.file.name, _("The case"), names)
        if answers.printed:
            yield heading(_("Your file printed")[lang])
            yield Plain(answers.printed, classes="note")

    async def _show(self) -> None:
        page = self.query_one("#answers")
        await mount_anew(page, self._parts())
        page.scroll_home(animate=False)
        self.refresh_bindings()

    async def action_try_case(self) -> None:
        self.answers, self.failed = None, ""
        try:
            request = try_request(self.workspace, self.challenge_id, self.file, self.text)
        except AttnError as error:
            self.failed = error_text(error, self.lang)
        else:
            self.is_asking = True
            self._ask(request)
        await self._show()

    @work(thread=True, exclusive=True)
    def _ask(self, request: TryRequest) -> None:
        """Wait for the judge in a thread: the learner's code may be slow."""
        try:
            self.post_message(Tried(self.attn.grader.try_case(request)))
        except JudgeFailed as error:
            self.post_message(Tried(error))

    async def on_tried(self, message: Tried) -> None:
        self.is_asking = False
        if isinstance(message.answers, GradingCancelled):
            self.failed = _("Grading cancelled.")[self.lang]
        elif isinstance(message.answers, JudgeFailed):
            self.failed = error_text(message.answers, self.lang)
        elif message.answers.refused.en:
            self.failed = message.answers.refused
        else:
            self.answers = message.answers
        await self._show()

    def action_cancel(self) -> None:
        self.attn.grader.cancel()

    def action_to_answers(self) -> None:
        self.query_one("#answers").focus()

    def action_to_field(self) -> None:
        self.query_one(CaseField).focus()


def task_of(started: Started, file: Path, lang: Lang) -> tuple[str, Localised]:
    """Return the task of a round: a heading, and the text below it."""
    if started.symptom is not None:
        return _("Find the bug")[lang], started.symptom
    text = _(
        "{file} is the reference with bugs planted in it. Press e to fix them, then g to grade: the report counts the "
        "fixed bugs and gives a symptom of each remaining one.",
        file=file,
    )
    return ngettext("Find {count} bug", "Find {count} bugs", started.bugs)[lang], text
