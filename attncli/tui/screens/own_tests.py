"""A learner's tests of a challenge: edit, run on right and wrong solutions, see what survives, run again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from attncli.domain.tests_report import OwnTestsReport, tests_lines
from attncli.domain.vocabulary import STANDING_NAMES
from attncli.errors import AttnError, JudgeFailed
from attncli.i18n import N_, Localised, _
from attncli.judge.client import OwnTestsRequest
from attncli.practice import own_tests
from attncli.practice.challenges import Hint
from attncli.practice.grade import GradeOptions, GradingCancelled, read_submission
from attncli.practice.start import OpenFile, statement
from attncli.tui.screens.base import AttnScreen, edit_externally, error_text
from attncli.tui.widgets.basics import Page, Plain, TitleBar, heading, mount_anew
from attncli.tui.widgets.grading import hints_and_solution
from attncli.tui.widgets.session import Progress


@dataclass
class Tested(Message):
    """The tests have been run on one more wrong solution."""

    caught: bool


@dataclass
class Ended(Message):
    """The run has ended, with a report or the reason why there is none."""

    report: OwnTestsReport | JudgeFailed


class OwnTestsScreen(AttnScreen):
    """The learner's tests of a challenge: how they are scored, the last report, hints and the reference tests."""

    CSS_PATH = "own_tests.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", N_("Edit")),
        Binding("w", "write", N_("Write here")),
        Binding("g", "run", N_("Run")),
        Binding("h", "hint", N_("Hint")),
        Binding("o", "solution", N_("Reference tests")),
        Binding("escape", "cancel", N_("Cancel"), key_display="Esc"),
        Binding("escape,q", "back", N_("Back"), key_display="Esc"),
    ]

    def __init__(self, id: str) -> None:
        super().__init__()
        self.challenge_id = id
        self.report: OwnTestsReport | None = None
        self.problem = ""
        self.hints: list[Hint] = []
        self.reference = ""
        self.source: str | None = None
        self.seen = Counter[bool]()

    def title_bar(self) -> TitleBar:
        self.challenge = self.workspace.library.challenge(self.challenge_id)
        self.file = own_tests.tests_file(self.workspace, self.challenge_id)
        return TitleBar(_("Tests")[self.lang], self.challenge.title[self.lang], self._status())

    def _status(self) -> str:
        return STANDING_NAMES[own_tests.tests_standing(self.workspace, self.challenge_id)][self.lang]

    def body(self) -> Iterable[Widget]:
        yield Page(*self._parts(), id="tests")

    def focus_first(self) -> None:
        self.query_one("#tests").focus()

    def _parts(self) -> Iterable[Widget]:
        lang = self.lang
        started = _("File: {file}", file=self.file)
        none = _("Press e to write tests in your editor, or w to write them here.")
        yield Plain((started if self.file.exists() else none)[lang], classes="muted")
        if self.source is not None:
            yield Plain(self._progress_text(), id="now")
            yield Progress(self.seen.total(), self._wrong())
        elif self.problem:
            yield Plain(self.problem, classes="verdict")
        elif self.report is not None:
            first, *rest = self._lines(self.report)
            yield Plain(first, classes="verdict" if self.report.rung == "none" else "verdict -accepted")
            yield Plain("\n".join(rest), classes="lines")
        yield from self._below()

    def _below(self) -> Iterable[Widget]:
        """Yield what follows the report."""
        from attncli.tui.widgets.markdown import CardMarkdown

        yield from hints_and_solution(self.hints, self.reference, self.lang)
        yield heading(_("How tests are scored")[self.lang])
        yield CardMarkdown(own_tests.how_scored(self.challenge)[self.lang])

    def _beside(self) -> Localised:
        """Return the text beside the editor."""
        return statement(self.challenge).first

    def _lines(self, report: OwnTestsReport) -> Iterable[str]:
        return tests_lines(report, self.challenge.title, self.lang)

    def _wrong(self) -> int:
        return max(1, len(self.challenge.mistakes))

    def _progress_text(self) -> str:
        caught, missed = self.seen[True], self.seen[False]
        return _("Running: {caught} caught, {missed} missed", caught=caught, missed=missed)[self.lang]

    async def _show(self) -> None:
        async with self.composing:
            page = self.query_one("#tests")
            await mount_anew(page, self._parts())
            page.scroll_home(animate=False)
        self.query_one(TitleBar).show_status(self._status())
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        is_running = self.source is not None
        if action == "cancel":
            return is_running
        return not is_running if action in ("edit", "write", "run", "hint", "solution", "back") else True

    def _ensure_file(self) -> bool:
        if not self.file.exists():
            with self.attn.showing_errors():
                own_tests.start_tests(self.workspace, self.challenge_id)
        return self.file.exists()

    async def action_edit(self) -> None:
        if self._ensure_file():
            edit_externally(self, self.file)
            await self._show()

    @work
    async def action_write(self) -> None:
        """Open the file in the app's own editor, then run it if asked to."""
        from attncli.tui.screens.editor import EditorScreen  # loads a parser

        if not self._ensure_file():
            return
        run = False
        with self.attn.showing_errors():
            editor = EditorScreen(OpenFile(self.file), self.challenge.title, self._beside(), self.lang)
            run = await self.app.push_screen_wait(editor) is True
        await self._show()
        if run:
            await self.action_run()

    async def action_run(self) -> None:
        try:
            source = read_submission(self.file)
        except AttnError as error:
            self.attn.show_error(error)
            return
        self.source, self.problem, self.seen = source.decode("utf-8", "replace"), "", Counter()
        await self._show()
        self._ask(source)

    @work(thread=True, exclusive=True)
    def _ask(self, source: bytes) -> None:
        """Wait for the judge in a thread; it reports each wrong solution."""
        request = own_tests.request_of(self.challenge, source, str(self.file), GradeOptions())
        try:
            self.post_message(Ended(self._run(request)))
        except JudgeFailed as error:
            self.post_message(Ended(error))

    def _run(self, request: OwnTestsRequest) -> OwnTestsReport:
        return self.attn.grader.run_tests(request, self._post_tested)

    def _post_tested(self, caught: bool) -> None:
        self.post_message(Tested(caught))

    def on_tested(self, message: Tested) -> None:
        self.seen[message.caught] += 1
        for now in self.query("#now").results(Plain):
            now.update(self._progress_text())
        for progress in self.query(Progress):
            progress.show(self.seen.total(), self._wrong())

    async def on_ended(self, message: Ended) -> None:
        source, self.source = self.source, None
        if isinstance(message.report, JudgeFailed):
            self.problem = self._failed_text(message.report)
        elif source is not None:
            self.report, self.hints = message.report, []
            with self.attn.showing_errors():
                self._settle(message.report, source)
        await self._show()

    def _settle(self, report: OwnTestsReport, source: str) -> None:
        own_tests.settle(self.workspace, report, source)

    def _failed_text(self, error: JudgeFailed) -> str:
        cancelled = isinstance(error, GradingCancelled)
        return _("Grading cancelled.")[self.lang] if cancelled else error_text(error, self.lang)

    def action_cancel(self) -> None:
        self.attn.grader.cancel()

    async def action_hint(self) -> None:
        """Name the mistake of the next wrong solution that the tests did not catch."""
        with self.attn.showing_errors():
            hint = own_tests.next_survivor(self.workspace, self.challenge_id)
            self.hints = [*(seen for seen in self.hints if seen.number != hint.number), hint]
            await self._show()

    @work
    async def action_solution(self) -> None:
        question = _("Show the reference tests? This is recorded: solving it today counts as Again.")
        if await self.confirm(question, _("y  Show"), _("n  Cancel")):
            with self.attn.showing_errors():
                self.reference = own_tests.show_reference_tests(self.workspace, self.challenge_id)
                await self._show()
