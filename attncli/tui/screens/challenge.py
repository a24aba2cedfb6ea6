"""One challenge: its statement, the learner's editor, grading with live progress, hints and the reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from attncli.domain.grade_report import CheckResult, GradeReport
from attncli.errors import AttnError, JudgeFailed
from attncli.practice import grade as grade_file
from attncli.practice.challenges import is_solved, next_unsolved
from attncli.practice.hint import Hint, next_hint
from attncli.practice.repair_round import offers_rounds
from attncli.practice.solution import show_solution
from attncli.practice.start import Started, solution_file
from attncli.practice.warm_judge import GradeRequest, GradingCancelled
from attncli.practice.whole_statement import statement
from attncli.tui.app_errors import fault_text
from attncli.tui.bug_files import hand_out_bug, hand_out_repair, task_of
from attncli.tui.challenge_standing import comes_back_text, standing_text
from attncli.tui.choose_editor import edit_outside, has_file, write_here
from attncli.tui.mounting import mount_anew, mount_in
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widget_events import CheckChanged, Graded, GradingFailed
from attncli.tui.widgets.after_solving import AfterSolving, after_solving
from attncli.tui.widgets.challenge_statement import asked_for, help_taken
from attncli.tui.widgets.folded_text import Fold
from attncli.tui.widgets.grading import GradeReportView
from attncli.tui.widgets.long_text import Page
from attncli.tui.widgets.plain import Plain, heading
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say
from attncli.words.track_texts import track_title


class ChallengeScreen(AttnScreen):
    """Narrow terminals show the statement or the report (Tab), wide ones both."""

    CSS_PATH = Path(__file__).with_name("challenge.tcss")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 - Textual's own declaration
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "key.edit"),
        Binding("w", "write", "key.write"),
        Binding("g", "grade", "key.grade"),
        Binding("f", "fresh", "key.fresh"),
        Binding("t", "own_case", "key.own-case", show=False),
        Binding("h", "hint", "key.hint"),
        Binding("o", "solution", "key.solution"),
        Binding("c", "card", "key.card"),
        Binding("b", "bug", "key.bug"),
        Binding("r", "repair", "key.repair", show=False),
        Binding("x", "harden", "key.harden", show=False),
        Binding("a", "answer", "key.follow-up", show=False),
        Binding("n", "next", "key.next-challenge", show=False),
        Binding("tab", "other_side(True)", "key.report", key_display="Tab", priority=True),
        Binding("tab", "other_side(False)", "key.statement", key_display="Tab", priority=True),
        Binding("escape", "cancel", "key.cancel", key_display="Esc"),
        Binding("escape,q", "back", "key.back", key_display="Esc"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__()
        self.challenge_id = id
        self.hints: list[Hint] = []
        self.reference = ""
        self.handed_out: Started | None = None
        self.report: GradeReport | None = None
        self.request: GradeRequest | None = None
        self.options = grade_file.GradeOptions()
        self.unfolded = False
        self.opened: set[int] = set()

    def title_bar(self) -> TitleBar:
        self.challenge = self.workspace.library.challenge(self.challenge_id)
        self.statement = statement(self.challenge)
        self.file = solution_file(self.workspace, self.challenge_id)
        detail = track_title(self.challenge.track)[self.lang]
        level = say("challenge.level", self.lang, level=self.challenge.level)
        return TitleBar(self.challenge.title[self.lang], f"{detail} · {level}", self._standing())

    def _standing(self) -> str:
        return standing_text(self.workspace, self.challenge, self.lang)

    def body(self) -> Iterable[Widget]:
        yield Page(*self._statement(), id="statement")
        yield GradeReportView(self.challenge, self.lang)

    def _statement(self) -> Iterable[Widget]:
        from attncli.tui.widgets.markdown import CardMarkdown

        lang = self.lang
        started = self.file.exists()
        file = say("challenge.file", lang, file=self.file) if started else say("challenge.not-started", lang)
        yield Plain(file, id="file")
        if self.handed_out is None and offers_rounds(self.challenge) and self.check_action("repair", ()):
            yield Plain(say("challenge.offers-repair", lang), classes="offer")
        if self.handed_out is not None:
            task, text = task_of(self.handed_out, self.file, lang)
            yield heading(task)
            yield CardMarkdown(text[lang])
        yield from help_taken(self.hints, self.reference, lang)
        yield from asked_for(self.challenge, self.statement, lang, self.unfolded)
        if self.report is None:
            yield from self._after_solving()

    def _after_solving(self) -> Iterable[Widget]:
        return after_solving(self.workspace, self.challenge, self.lang, self.opened, self.question_of)

    async def _show_report(self, report: GradeReport, after: str) -> None:
        view = self.query_one(GradeReportView)
        await view.show(report, after)
        if report.accepted:
            await mount_in(view, self._after_solving())

    def action_answer(self) -> None:
        for after in self.query(AfterSolving):
            after.open_next_answer()

    def action_next(self) -> None:
        """The next challenge in place of this one."""
        following = next_unsolved(self.workspace, self.challenge_id)
        if following is None:
            self.notify(say("after.none", self.lang))
        else:
            self.app.switch_screen(ChallengeScreen(following.id))

    def on_mount(self) -> None:
        super().on_mount()
        with self.attn.telling():
            self.attn.grader.warm_up()

    def focus_first(self) -> None:
        self.query_one("#report" if self.has_class("-report") else "#statement").focus()

    async def _compose_anew(self) -> None:
        await super()._compose_anew()
        if self.report is not None:
            await self._show_report(self.report, self._comes_back())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        grading_now = self.request is not None
        if action == "cancel":
            return grading_now
        if action == "other_side":
            return (grading_now or self.report is not None) and self.has_class("-report") != parameters[0]
        if action == "fresh":
            return not grading_now and self._is_accepted()
        if action in ("answer", "next"):
            return not grading_now and is_solved(self.workspace, self.challenge_id)
        if action in ("grade", "edit", "write", "bug", "repair", "own_case"):
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
        """Shows or hides what the second rung asks for besides."""
        self._turn(report=False)
        for fold in self.query(Fold):
            fold.turn()

    def on_fold_turned(self, message: Fold.Turned) -> None:
        self.unfolded = message.unfolded

    async def action_edit(self) -> None:
        if has_file(self, self.challenge_id, self.file):
            edit_outside(self, self.file)
            await self._show_statement()

    @work
    async def action_write(self) -> None:
        """The app's own editor; the file may be graded right away."""
        if has_file(self, self.challenge_id, self.file):
            grade = await write_here(self, self.file, self.challenge.title, self.statement.first)
            await self._show_statement()
            if grade:
                await self.action_grade()

    def action_own_case(self) -> None:
        """A case of the learner's own, beginning with the counterexample where there is one."""
        from attncli.practice.own_case import counterexample_text
        from attncli.tui.screens.own_case import OwnCaseScreen

        if has_file(self, self.challenge_id, self.file):
            text = counterexample_text(self.challenge, self.report)
            self.app.push_screen(OwnCaseScreen(self.challenge_id, self.file, text))

    def _is_accepted(self) -> bool:
        return self.report is not None and self.report.accepted

    async def action_grade(self) -> None:
        await self._begin(grade_file.GradeOptions(rung=self.workspace.settings.rung))

    async def action_fresh(self) -> None:
        """The same file on inputs that it has not seen."""
        assert self.report is not None
        await self._begin(replace(self.options, seed=grade_file.fresh_seed(self.report)))

    async def _begin(self, options: grade_file.GradeOptions) -> None:
        if not self.file.exists():
            self.notify(say("challenge.not-started", self.lang), severity="warning")
            return
        try:
            self.request = grade_file.request_for(self.workspace, self.challenge_id, self.file, options)
        except AttnError as error:
            self.attn.tell(error)
            return
        self.options = options
        await self.query_one(GradeReportView).begin()
        self._turn(report=True)
        self.refresh_bindings()
        self._grade(self.request)

    @work(thread=True, exclusive=True)
    def _grade(self, request: GradeRequest) -> None:
        """In a thread of its own: the judge answers line by line."""
        try:
            report = self.attn.grader.grade(request, self._check_changed)
        except JudgeFailed as error:
            self.post_message(GradingFailed(error))
        else:
            self.post_message(Graded(report))

    def _check_changed(self, check: CheckResult) -> None:
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
            after = self._comes_back()
        async with self.composing:
            await self._show_report(message.report, after)
            for title in self.query(TitleBar):
                title.show_status(self._standing())
        self.refresh_bindings()

    def _settle(self, request: GradeRequest, report: GradeReport) -> None:
        """Records the attempt; where that fails it is said, and the report is shown all the same."""
        with self.attn.telling():
            grade_file.settle(self.workspace, request, report, self.options)

    def _comes_back(self) -> str:
        return comes_back_text(self.workspace, self.challenge, self.lang)

    async def on_grading_failed(self, message: GradingFailed) -> None:
        self.request = None
        async with self.composing:
            await self.query_one(GradeReportView).say_failed(self._failed_text(message.error))
        self.refresh_bindings()

    def _failed_text(self, error: JudgeFailed) -> str:
        cancelled = isinstance(error, GradingCancelled)
        return say("challenge.cancelled", self.lang) if cancelled else fault_text(error, self.lang)

    def action_cancel(self) -> None:
        self.attn.grader.cancel()

    def action_card(self) -> None:
        """The card that explains the mistake, or else the challenge."""
        told = [card for found in (self.report.diagnosis if self.report else ()) for card in found.cards]
        for card in [*told, *self.challenge.cards]:
            if self.question_of(card) is not None:
                self.attn.open_card(card)
                return
        self.notify(say("challenge.no-card", self.lang))

    async def action_hint(self) -> None:
        hint = next_hint(self.workspace, self.challenge_id)
        if hint.again:
            self.notify(say("challenge.no-more-hints", self.lang))
        self.hints = [*(seen for seen in self.hints if seen.number != hint.number), hint]
        await self._show_statement()

    @work
    async def action_bug(self) -> None:
        """A wrong solution to debug."""
        await self._show_handed_out(await hand_out_bug(self, self.challenge_id, self.file))

    @work
    async def action_repair(self) -> None:
        """The reference with several bugs to find and mend."""
        await self._show_handed_out(await hand_out_repair(self, self.challenge_id, self.file))

    async def _show_handed_out(self, started: Started | None) -> None:
        if started is not None:
            self.handed_out, self.report = started, None
            await self.query_one(GradeReportView).clear()
            self.refresh_bindings()
            await self._show_statement()

    @work
    async def action_solution(self) -> None:
        """The reference, after asking: it is recorded as seen."""
        from attncli.tui.screens.confirm import ConfirmScreen

        texts = [say(key, self.lang) for key in ("challenge.see-solution", "challenge.yes", "challenge.no")]
        if await self.app.push_screen_wait(ConfirmScreen(*texts)):
            with self.attn.telling():
                self.reference = show_solution(self.workspace, self.challenge_id)
                await self._show_statement()
