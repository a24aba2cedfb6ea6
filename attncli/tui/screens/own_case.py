"""A case of one's own: arguments are typed, and both answers stand side by side."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input

from attncli.domain.case_answers import BothAnswers
from attncli.domain.text import Localised
from attncli.errors import AttnError, JudgeFailed
from attncli.practice.own_case import calls_of, try_request
from attncli.practice.warm_judge import GradingCancelled, TryRequest
from attncli.tui.app_errors import fault_text
from attncli.tui.mounting import mount_anew
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widget_events import Tried
from attncli.tui.widgets.line_field import LineField
from attncli.tui.widgets.long_text import Page
from attncli.tui.widgets.plain import Plain, heading
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say


class CaseField(LineField):
    """Enter tries what stands here; ↓ goes to the answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.try_case", "key.try", key_display="Enter"),
        Binding("down", "screen.to_answers", "key.down", show=False),
    ]


class OwnCaseScreen(AttnScreen):
    """What was typed stays, over a change of language and over an error too; nothing of it is recorded."""

    CSS_PATH = Path(__file__).with_name("own_case.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "to_field", "key.own-case"),
        Binding("escape", "cancel", "key.cancel", key_display="Esc"),
        Binding("escape,q", "back", "key.back", key_display="Esc"),
    ]

    def __init__(self, id: str, file: Path, text: str = "") -> None:
        super().__init__()
        self.challenge_id, self.file, self.text = id, file, text
        self.answers: BothAnswers | None = None
        self.failed: Localised | str = ""
        self.is_asking = False

    def title_bar(self) -> TitleBar:
        self.challenge = self.workspace.library.challenge(self.challenge_id)
        return TitleBar(say("own-case.title", self.lang), self.challenge.title[self.lang], self.file.name)

    def body(self) -> Iterable[Widget]:
        yield CaseField(self.text, placeholder=say("own-case.prompt", self.lang))
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
            yield Plain(say("own-case.waiting", self.lang), classes="note")
        elif self.failed:
            said = self.failed if isinstance(self.failed, str) else self.failed[self.lang]
            yield Plain(say("own-case.refused", self.lang, why=said), classes="verdict")
        elif self.answers is not None:
            yield from self._answers(self.answers)
        calls = calls_of(self.challenge)
        yield Plain(say("own-case.how", self.lang, calls=", ".join(self.challenge.entry)), classes="muted")
        yield Plain("\n".join(calls), classes="muted")

    def _answers(self, answers: BothAnswers) -> Iterable[Widget]:
        from attncli.tui.widgets.counterexample_view import CounterexampleView
        from attncli.words.counterexample_lines import Answers

        lang, keys = self.lang, {True: "own-case.same", False: "own-case.differ", None: "own-case.no-answer"}
        same = "verdict -same" if answers.same else "verdict"
        yield Plain(say(keys[answers.same], lang, how=answers.said[lang]), classes=same)
        if answers.forbidden:
            what = say("own-case.between", lang).join(line[lang] for line in answers.forbidden)
            yield Plain(say("own-case.forbidden", lang, what=what), classes="note")
        if answers.shown is not None:
            named = Answers("reference", "yours", starred=answers.same is False)
            yield CounterexampleView(answers.shown, lang, self.file.name, "own-case.case", named)
        if answers.printed:
            yield heading(say("verdict.printed", lang))
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
            self.failed = fault_text(error, self.lang)
        else:
            self.is_asking = True
            self._ask(request)
        await self._show()

    @work(thread=True, exclusive=True)
    def _ask(self, request: TryRequest) -> None:
        """In a thread of its own: learner code may take its time."""
        try:
            self.post_message(Tried(self.attn.grader.try_case(request)))
        except JudgeFailed as error:
            self.post_message(Tried(error))

    async def on_tried(self, message: Tried) -> None:
        self.is_asking = False
        if isinstance(message.answers, GradingCancelled):
            self.failed = say("challenge.cancelled", self.lang)
        elif isinstance(message.answers, JudgeFailed):
            self.failed = fault_text(message.answers, self.lang)
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
