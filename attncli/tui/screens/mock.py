"""The screens of a mock interview: choosing or resuming one, its questions and code rounds, and its report.

Every step is on disk before the next question. The clock runs only while the interview is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.grade_report import GradeReport
from attncli.domain.mock_interview import PART_NAMES, MissedItem, MockReport
from attncli.domain.tests_report import OwnTestsReport, tests_lines
from attncli.domain.vocabulary import LEVEL_NAMES, LEVELS, SITTINGS
from attncli.errors import JudgeFailed
from attncli.i18n import N_, Localised, _, quoted
from attncli.judge.client import OwnTestsRequest
from attncli.practice import mock, mock_log
from attncli.practice.grade import GradeRequest, GradingCancelled
from attncli.practice.marking import Asked
from attncli.practice.mock import MOCK_LEVEL, MockInterview, MockOptions, split
from attncli.practice.mock_report import code_task, missed_lines, past_mocks, read_line, report_of, score_lines
from attncli.practice.own_tests import run_on_draft
from attncli.practice.queue import default_level
from attncli.practice.start import statement
from attncli.tui.formulas import inline
from attncli.tui.screens.base import AttnScreen
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.screens.drill import START, OptionRows, OptionsScreen
from attncli.tui.screens.editor import EditorScreen
from attncli.tui.screens.own_tests import OwnTestsScreen
from attncli.tui.screens.review import AskingScreen
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import Plain, TitleBar, heading, mount_in
from attncli.tui.widgets.card import Sheet, asked_parts
from attncli.tui.widgets.grading import GradeReportView
from attncli.tui.widgets.session import MockTimeLine

MINUTES = (15, 30, 45, 60)
RESUME = "resume"

# Choosing an interview


class MockScreen(OptionsScreen[MockOptions]):
    """The options of an interview, and past reports; the first row resumes an unfinished one."""

    CSS_PATH = "mock.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "start", N_("Start"))]
    FIELDS: ClassVar = {
        "minutes": _("Minutes"),
        "level": _("Interview level"),
        "interviewer": _("With an interviewer"),
        "assistant": _("AI-assisted round"),
    }
    NAME_CELLS = 24

    def __init__(self, options: MockOptions | None = None) -> None:
        super().__init__()
        level = default_level(self.workspace) or MOCK_LEVEL
        self.options = options or MockOptions(level=level, seed=self.attn.rng.randrange(SITTINGS))

    def title_bar(self) -> TitleBar:
        return TitleBar(_("Mock interview")[self.lang])

    def body(self) -> Iterable[Widget]:
        yield OptionRows(self.rows(), id="mock")
        yield Plain(
            _(
                "Timed, with random questions. Each step is saved; leaving pauses the clock. Tick the points yourself, "
                "or let an interviewer do it, who sees them from the start. Card schedules do not change; missed cards "
                "count as weak; graded code counts as an attempt."
            )[self.lang],
            id="note",
        )

    async def reload(self) -> None:
        self.refresh_rows()

    def rows(self) -> list[tuple[str, Content]]:
        rows = [(START, self._start_row()), *((name, self.row(name)) for name in self.FIELDS)]
        unfinished = mock_log.unfinished(self.workspace)
        if unfinished is not None and unfinished.part is not None:
            part, at = PART_NAMES[unfinished.part.name][self.lang], unfinished.begun_at.astimezone()
            text = _("▶ Resume: {part}, started {at:%Y-%m-%d %H:%M}", part=part, at=at)[self.lang]
            rows.insert(0, (RESUME, Content.styled(text, "bold $primary")))
        return [*rows, *self._past()]

    def _start_row(self) -> Content:
        minutes = split(self.options.minutes, self.options.assistant)
        parts = " · ".join(f"{PART_NAMES[name][self.lang]} {count}" for name, count in minutes.items())
        return Content.styled(_("▶ Start an interview: {parts}", parts=parts)[self.lang], "bold $primary")

    def value_text(self, name: str, value: Any) -> str:
        return LEVEL_NAMES[value][self.lang] if name == "level" else str(value)

    def _past(self) -> list[tuple[str, Content]]:
        rows = []
        for report in past_mocks(self.workspace):
            level, at = LEVEL_NAMES[report.level][self.lang], report.begun_at.astimezone()
            text = _(
                "{at:%Y-%m-%d %H:%M} · {minutes} min · {level} · {share:.0%}",
                level=level,
                at=at,
                minutes=report.minutes,
                share=report.share,
            )[self.lang]
            rows.append((report.id, Content.styled(f"  {text}", "$text-muted")))
        return rows

    def values(self, name: str) -> Sequence[Any]:
        match name:
            case "minutes":
                return sorted({*MINUTES, self.options.minutes})
            case "level":
                return LEVELS
        return [False, True]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        match event.option_id:
            case "resume":
                self._open(lambda: MockInterview.resume(self.workspace))
            case "start":
                self.action_start()
            case str(name) if name in self.FIELDS:
                self.change(name, 1)
            case str(id):
                self._show_report(id)

    def _open(self, create: Callable[[], MockInterview | None]) -> None:
        """Replace this screen by the interview; a second key or click before it shows creates no second one.

        Errors are shown here, because a mouse click does not pass through `run_action`.
        """
        with self.attn.showing_errors():
            if self.is_current and (interview := create()) is not None:
                show_next(self, interview)

    def _show_report(self, id: str) -> None:
        for report in past_mocks(self.workspace):
            if report.id == id:
                self.app.push_screen(MockReportScreen(report))

    def action_start(self) -> None:
        """Draw an interview and start it; an unfinished one ends, and its report stays."""
        self._open(lambda: MockInterview.begin(self.workspace, self.options))


# The report

_STYLES = {"head": "bold $primary", "note": "$text-muted"}


class MockReportScreen(AttnScreen):
    """The score by part, the times, and the missed items; Enter opens the card or challenge under the cursor."""

    CSS_PATH = "mock.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "drill", N_("Drill the missed cards")),
        Binding("n", "again", N_("New interview")),
        Binding("enter", "back", N_("Back"), show=False),
    ]

    def __init__(self, report: MockReport) -> None:
        super().__init__()
        self.report = report

    def title_bar(self) -> TitleBar:
        return TitleBar(_("Mock interview")[self.lang], f"{self.report.begun_at.astimezone():%Y-%m-%d %H:%M}")

    def body(self) -> Iterable[Widget]:
        lines = [Content.styled(text, _STYLES.get(kind, "")) for kind, text in score_lines(self.report, self.lang)]
        if self.report.read:
            lines.insert(-1, Content(read_line(self.report, self.lang)))
        lines.insert(-1, Content(""))
        yield Plain(Content("\n").join(lines), id="score")
        if self.report.missed:
            yield Rows([(str(n), self._missed(one)) for n, one in enumerate(self.report.missed)], id="missed")

    def _missed(self, missed: MissedItem) -> Content:
        (_kind, head), *points = missed_lines(missed, self.lang)
        title = inline(head).truncate(row_width(self.app.size.width), ellipsis=True)
        lines = [Content.assemble(("  · ", "$text-muted"), inline(text)) for _kind, text in points]
        return Content("\n").join([title, *lines, Content("")])

    def focus_first(self) -> None:
        self.set_focus(self.query(Rows).first() if self.query(Rows) else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        missed = self.report.missed[int(event.option_id or 0)]
        with self.attn.showing_errors():
            if missed.is_code:
                self.workspace.library.challenge(missed.card)
                self.attn.show("challenge", missed.card)
            else:
                self.workspace.library.card(missed.card)
                self.attn.show("card", missed.card)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "drill" or any(not missed.is_code for missed in self.report.missed)

    def action_drill(self) -> None:
        self.drill(missed.card for missed in self.report.missed if not missed.is_code)

    def action_again(self) -> None:
        self.attn.show("mock")


# Questions and code rounds


def show_next(screen: AttnScreen, interview: MockInterview) -> None:
    """Replace `screen` by the interview's next question, or its report once it is over.

    Raises AttnError if the file of a code round cannot be written.
    """
    following: AttnScreen
    if interview.item is None:
        following = MockReportScreen(report_of(screen.workspace, interview.state))
    else:
        screens = {"whiteboard": MockCodeScreen, "repair": MockCodeScreen, "tests": MockTestsScreen}
        following = screens.get(interview.item.kind, MockInterviewScreen)(interview)
    screen.app.switch_screen(following)


class InterviewClock(AttnScreen):
    """Stop the clock when the screen is left or covered, except under the screens in `RUNS_UNDER`."""

    RUNS_UNDER: ClassVar[tuple[type[object], ...]] = (ModalScreen,)
    interview: MockInterview
    is_left = False
    """True once the interview goes on on another screen."""
    is_settled = False

    def action_back(self) -> None:
        self.stop_clock()
        self.attn.go_back()

    def on_screen_suspend(self) -> None:
        if not isinstance(self.app.screen, self.RUNS_UNDER):
            self.stop_clock()

    async def on_screen_resume(self) -> None:
        if not self.is_left and not self.is_settled:
            self.interview.go_on()

    def on_unmount(self) -> None:
        self.stop_clock()

    def stop_clock(self) -> None:
        """Save the time, unless the interview goes on on another screen."""
        if not self.is_left and self.interview.is_running:
            with self.attn.showing_errors():
                self.interview.pause()


_CREDIT = "[@click=screen.credit(2)]$whole[/] · [@click=screen.credit(1)]$partly[/] · [@click=screen.credit(0)]$no[/]"


class MockInterviewScreen(AskingScreen, InterviewClock):
    """The questions of an interview, one after the other, answered aloud or marked, against the clock."""

    CSS_PATH = "mock.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "reveal", N_("Show answer"), key_display="Space"),
        Binding("enter", "reveal", N_("Show answer"), show=False),
        Binding("enter", "submit", N_("Submit"), key_display="Enter"),
        Binding("enter", "settle", N_("Continue"), key_display="Enter"),
        Binding("a", "points", N_("Tick"), key_display="a-g"),
        Binding("2", "credit(2)", N_("Score"), key_display="0-2"),
        Binding("1", "credit(1)", N_("Score"), show=False),
        Binding("0", "credit(0)", N_("Score"), show=False),
        Binding("s", "skip", N_("Skip")),
        Binding("n", "next_part", N_("Next part")),
        Binding("u", "undo", N_("Undo")),
        Binding("ctrl+z", "undo", N_("Undo"), show=False),
        Binding("x", "end", N_("End")),
        Binding("escape,q", "back", N_("Pause and leave"), key_display="Esc"),
    ]

    def __init__(self, interview: MockInterview) -> None:
        super().__init__()
        self.interview = interview

    @property
    def asked(self) -> Asked | None:  # type: ignore[override]
        return self.interview.asked

    def title_bar(self) -> TitleBar:
        return TitleBar(*self._titles())

    def _titles(self) -> tuple[str, str, str]:
        part, item, asked = self.interview.part, self.interview.item, self.asked
        if part is None or item is None or asked is None:
            return _("Mock interview")[self.lang], "", ""
        topic = self.topic_title(asked.card.topic)
        detail = _("follow-up")[self.lang] + f" · {topic}" if item.kind == "follow-up" else topic
        return PART_NAMES[part.name][self.lang], detail, item.id

    def body(self) -> Iterable[Widget]:
        yield MockTimeLine(self.interview, self.lang)
        yield Sheet(*self.parts(), id="sheet")

    def parts(self) -> Iterable[Widget]:
        if self.asked is None:
            return
        yield from asked_parts(self.asked, self.lang, self.question_of, in_quiz=True)
        if self._wants_credit():
            whole, partly, no = _("2 full · 1 partial · 0 missed")[self.lang].split(" · ")
            yield Plain(Content.from_markup(_CREDIT, whole=whole, partly=partly, no=no), classes="note")

    def _wants_credit(self) -> bool:
        asked = self.asked
        return asked is not None and asked.revealed and not (asked.is_marked_automatically or asked.card.points)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        asked = self.asked
        if asked is None:
            return action not in ("reveal", "submit", "settle", "points", "credit", "skip", "next_part", "end")
        is_spoken = not asked.is_marked_automatically
        match action:
            case "reveal":
                return is_spoken and not asked.revealed
            case "submit":
                return not is_spoken
            case "settle" | "points":
                return is_spoken and asked.revealed and bool(asked.card.points)
            case "credit":
                return self._wants_credit()
        return True

    async def action_reveal(self) -> None:
        self.interview.reveal()
        await self._show()

    async def action_submit(self) -> None:
        """Submit the answer; an empty one needs a second Enter."""
        if (asked := self.asked) is None or not asked.is_marked_automatically:
            return
        if not self.is_blank(asked) and self.submit_answer(asked):
            self.interview.reveal()
            await self._step(self.interview.answer)

    async def action_settle(self) -> None:
        await self._step(self.interview.answer)

    async def action_credit(self, credit: int) -> None:
        await self._step(lambda: self.interview.answer(credit))

    async def action_skip(self) -> None:
        await self._step(self.interview.skip)

    async def action_next_part(self) -> None:
        await self._step(self.interview.leave_part)

    async def action_undo(self) -> None:
        await self._step(self.interview.undo)

    @work
    async def action_end(self) -> None:
        if await self.confirm(_("End the interview? Your answers are kept."), _("y  End"), _("n  Continue")):
            await self._step(self.interview.end)

    async def _step(self, step: Callable[[], None]) -> None:
        """Record a step and show the next item; if recording fails, show the error, and the step can be retried."""
        with self.attn.showing_errors():
            step()
            self.app.clear_notifications()
            if self.asked is None:
                self.is_left = True
                show_next(self, self.interview)
            else:
                await self._show()

    async def _show(self) -> None:
        self.query_one(TitleBar).show(*self._titles())
        self.query_one(MockTimeLine).refresh()
        await self.show_parts()


class CodeRoundScreen(InterviewClock):
    """The keys and steps of a code round. Once it is settled the clock stops until Enter goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", N_("Edit")),
        Binding("w", "write", N_("Write here")),
        Binding("g", "grade", N_("Grade")),
        Binding("g", "run", N_("Run")),
        Binding("s", "skip", N_("Give up")),
        Binding("enter", "go_on", N_("Continue"), key_display="Enter"),
        Binding("1", "tick(1)", N_("Score"), key_display="0-1"),
        Binding("0", "tick(0)", N_("Score"), show=False),
        Binding("u", "undo", N_("Undo"), show=False),
        Binding("tab", "other_side(True)", N_("Report"), key_display="Tab", priority=True),
        Binding("tab", "other_side(False)", N_("Statement"), key_display="Tab", priority=True),
        Binding("escape", "cancel", N_("Cancel"), key_display="Esc"),
        Binding("escape,q", "back", N_("Pause and leave"), key_display="Esc"),
        Binding("question_mark,fullwidth_question_mark,f1", "help", N_("Help"), key_display="?"),
    ]

    RUNS_UNDER = (ModalScreen, EditorScreen)
    place: int | None
    is_by_hand = False
    GO_ON = _("Press Enter to continue. The clock is paused.")

    @property
    def is_settled(self) -> bool:  # type: ignore[override]
        return self.interview.state.place != self.place

    def can(self, action: str) -> bool | None:
        """Return True if the state of the round allows an action, None if this depends on the screen."""
        if action == "go_on":
            return self.is_settled
        if action == "tick":
            return self.is_by_hand and not self.is_settled
        return False if action in ("edit", "write", "grade", "run", "skip") and self.is_settled else None

    def by_hand_text(self, error: JudgeFailed, reason: str) -> str:
        """Let a person judge if the judge failed. Return the message."""
        if isinstance(error, GradingCancelled):
            return reason
        self.is_by_hand = True
        return _("Cannot grade here: {why} Judge it by reading: 1 correct, 0 wrong.", why=reason)[self.lang]

    def action_go_on(self) -> None:
        self.is_left = True
        self.interview.go_on()
        show_next(self, self.interview)

    def action_skip(self) -> None:
        self._step(self.interview.skip)

    def action_tick(self, credit: int) -> None:
        self._step(lambda: self.interview.tick_code(credit, 1))

    def action_undo(self) -> None:
        self._step(self.interview.undo)

    def _step(self, step: Callable[[], None]) -> None:
        step()
        if self.is_settled:
            self.action_go_on()


class MockCodeScreen(ChallengeScreen, CodeRoundScreen, inherit_bindings=False):
    """A challenge to write or to repair: the task beside the report, graded at the first rung, against the clock.

    Raises AttnError if the file cannot be written.
    """

    BINDINGS = CodeRoundScreen.BINDINGS

    def __init__(self, interview: MockInterview) -> None:
        self.round = mock.hand_out(interview)
        super().__init__(self.round.challenge.id)
        self.interview, self.place = interview, interview.state.place

    def title_bar(self) -> TitleBar:
        super().title_bar()
        self.started_round, self.file = None, self.round.path
        part = PART_NAMES["repair" if self.round.bugs else "whiteboard"][self.lang]
        return TitleBar(part, self.challenge.title[self.lang])

    def _status(self) -> str:
        return ""

    def body(self) -> Iterable[Widget]:
        yield MockTimeLine(self.interview, self.lang)
        yield from super().body()

    def _statement(self) -> Iterable[Widget]:
        yield heading(code_task(self.round.bugs)[self.lang])
        yield from super()._statement()

    def _after_solving(self) -> Iterable[Widget]:
        """Show nothing yet: the interview is not over."""
        return ()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if (can := self.can(action)) is not None:
            return can
        if action in ("repair", "switch_file", "own_tests", "run"):
            return False
        if action in ("write", "skip", "undo"):
            return self.request is None
        return super().check_action(action, parameters)

    async def action_grade(self) -> None:
        await self._begin(mock.OPTIONS)

    def _settle(self, request: GradeRequest, report: GradeReport) -> None:
        with self.attn.showing_errors():
            mock.settle(self.interview, request, report)
            if self.is_settled:
                self.interview.pause()

    def _next_due_text(self) -> str:
        return ""

    async def _show_report(self, report: GradeReport, after: str, diagnosis: bool = False) -> None:
        """Show the verdict, to be read while the clock is stopped, and above it the key to continue."""
        await super()._show_report(report, after, diagnosis)
        if self.is_settled and self.is_attached:
            self.query_one(MockTimeLine).display = False
            await mount_in(self.query_one(GradeReportView), [heading(self.GO_ON[self.lang])], before=0)

    def _failed_text(self, error: JudgeFailed) -> str:
        return self.by_hand_text(error, super()._failed_text(error))


class MockTestsScreen(OwnTestsScreen, CodeRoundScreen, inherit_bindings=False):
    """Tests of an assistant's draft against the clock: the report, the task and the draft.

    Raises AttnError if a file cannot be written or read.
    """

    BINDINGS = CodeRoundScreen.BINDINGS

    def __init__(self, interview: MockInterview) -> None:
        self.round = mock.hand_out(interview)
        super().__init__(self.round.challenge.id)
        self.interview, self.place = interview, interview.state.place

    def title_bar(self) -> TitleBar:
        self.challenge, self.file = self.round.challenge, self.round.path
        return TitleBar(PART_NAMES["tests"][self.lang], self.challenge.title[self.lang])

    def _status(self) -> str:
        return ""

    def body(self) -> Iterable[Widget]:
        yield MockTimeLine(self.interview, self.lang)
        yield from super().body()

    def _parts(self) -> Iterable[Widget]:
        for line in self.query(MockTimeLine):
            line.display = not self.is_settled
        if self.is_settled:
            yield heading(self.GO_ON[self.lang])
        yield from super()._parts()

    def _below(self) -> Iterable[Widget]:
        from attncli.tui.widgets.markdown import CardMarkdown

        yield CardMarkdown(mock.draft_task(self.round.bugs)[self.lang])
        yield Plain(_("Draft: {file}", file=self.round.draft)[self.lang], classes="muted")
        yield CardMarkdown(self._beside()[self.lang])

    def _beside(self) -> Localised:
        return quoted("\n\n").join([statement(self.challenge).first, quoted(f"```python\n{self.round.draft_text}```")])

    def _lines(self, report: OwnTestsReport) -> Iterable[str]:
        return tests_lines(report, self.challenge.title, self.lang, of_draft=True)

    def _wrong(self) -> int:
        return len(self.round.repairs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if (can := self.can(action)) is not None:
            return can
        if action in ("grade", "other_side"):
            return False
        if action in ("skip", "undo"):
            return self.source is None
        return super().check_action(action, parameters)

    def _run(self, request: OwnTestsRequest) -> OwnTestsReport:
        return run_on_draft(self.attn.grader, request, self.round.repairs, self._post_tested)

    def _settle(self, report: OwnTestsReport, source: str) -> None:
        mock.settle_tests(self.interview, self.round, report)
        if self.is_settled:
            self.interview.pause()

    def _failed_text(self, error: JudgeFailed) -> str:
        return self.by_hand_text(error, super()._failed_text(error))
