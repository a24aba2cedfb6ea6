"""The rounds of code in a mock interview: the task beside the verdict, graded at the first rung, against the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widget import Widget

from attncli.domain.grade_report import GradeReport
from attncli.errors import JudgeFailed
from attncli.practice import mock_code
from attncli.practice.mock import MockInterview
from attncli.practice.warm_judge import GradeRequest, GradingCancelled
from attncli.tui.mounting import mount_in
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.screens.editor import EditorScreen
from attncli.tui.screens.interview_clock import InterviewClock
from attncli.tui.widgets.grading import GradeReportView
from attncli.tui.widgets.mock_time import MockTimeLine
from attncli.tui.widgets.plain import heading
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say
from attncli.words.mock_texts import PART_NAMES, code_task


class MockCodeScreen(ChallengeScreen, InterviewClock, inherit_bindings=False):
    """Once the round is settled the clock stands still, until Enter goes on. Raises AttnError without a file."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "key.edit"),
        Binding("w", "write", "key.write"),
        Binding("g", "grade", "key.grade"),
        Binding("s", "skip", "key.leave-code"),
        Binding("enter", "go_on", "key.settle", key_display="Enter"),
        Binding("1", "tick(1)", "key.credit", key_display="0-1"),
        Binding("0", "tick(0)", "key.credit", show=False),
        Binding("u", "undo", "key.undo", show=False),
        Binding("tab", "other_side(True)", "key.report", key_display="Tab", priority=True),
        Binding("tab", "other_side(False)", "key.statement", key_display="Tab", priority=True),
        Binding("escape", "cancel", "key.cancel", key_display="Esc"),
        Binding("escape,q", "back", "key.stop-clock", key_display="Esc"),
        Binding("question_mark,fullwidth_question_mark,f1", "help", "key.help", key_display="?"),
    ]

    GOES_ON_UNDER = (ModalScreen, EditorScreen)

    def __init__(self, interview: MockInterview) -> None:
        self.round = mock_code.hand_out(interview)
        super().__init__(self.round.challenge.id)
        self.interview = interview
        self.place = interview.state.place
        self.is_by_hand = False

    @property
    def is_settled(self) -> bool:  # type: ignore[override]
        return self.interview.state.place != self.place

    def title_bar(self) -> TitleBar:
        super().title_bar()
        self.file = self.round.path
        part = PART_NAMES["repair" if self.round.bugs else "whiteboard"][self.lang]
        return TitleBar(part, self.challenge.title[self.lang])

    def _standing(self) -> str:
        return ""

    def body(self) -> Iterable[Widget]:
        yield MockTimeLine(self.interview, self.lang)
        yield from super().body()

    def _statement(self) -> Iterable[Widget]:
        yield heading(code_task(self.round.bugs)[self.lang])
        yield from super()._statement()

    def _after_solving(self) -> Iterable[Widget]:
        """Nothing: the interview is not over."""
        return ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "go_on":
            return self.is_settled
        if action == "tick":
            return self.is_by_hand and not self.is_settled
        if action in ("edit", "write", "grade", "skip") and self.is_settled:
            return False
        if action == "repair":
            return False
        if action in ("write", "skip", "undo"):
            return self.request is None
        return super().check_action(action, parameters)

    async def action_grade(self) -> None:
        await self._begin(mock_code.OPTIONS)

    def _settle(self, request: GradeRequest, report: GradeReport) -> None:
        with self.attn.telling():
            mock_code.settle(self.interview, request, report)
            if self.is_settled:
                self.interview.pause()

    def _comes_back(self) -> str:
        return ""

    async def _show_report(self, report: GradeReport, after: str) -> None:
        """Once the round is over, its verdict can be read while the clock stands still."""
        await super()._show_report(report, after)
        if self.is_settled and self.is_attached:
            self.query_one(MockTimeLine).display = False
            go_on = heading(say("mock.go-on", self.lang))
            await mount_in(self.query_one(GradeReportView), [go_on], before=0)

    def _failed_text(self, error: JudgeFailed) -> str:
        why = super()._failed_text(error)
        if isinstance(error, GradingCancelled):
            return why
        self.is_by_hand = True
        return say("mock.by-hand", self.lang, why=why)

    def action_go_on(self) -> None:
        self.is_left = True
        self.interview.go_on()
        self.attn.show_interview(self.interview)

    def action_skip(self) -> None:
        self._step(self.interview.skip)

    def action_tick(self, got: int) -> None:
        self._step(lambda: self.interview.tick_code(got, 1))

    def action_undo(self) -> None:
        self._step(self.interview.undo)

    def _step(self, step: Callable[[], None]) -> None:
        step()
        if self.is_settled:
            self.action_go_on()
