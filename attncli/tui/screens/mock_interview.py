"""The questions of a mock interview: one after the other, said aloud or answered, ticked, against the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from attncli.practice.cards.ask import Asked
from attncli.practice.mock import MockInterview
from attncli.tui.mounting import mount_anew
from attncli.tui.screens.card_answering import AskingScreen
from attncli.tui.screens.confirm import ConfirmScreen
from attncli.tui.screens.interview_clock import InterviewClock
from attncli.tui.widgets.card import Sheet, asked_parts
from attncli.tui.widgets.mock_time import MockTimeLine
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say
from attncli.words.mock_texts import FOLLOW_UP, PART_NAMES

_CREDIT = "[@click=screen.credit(2)]$whole[/] · [@click=screen.credit(1)]$partly[/] · [@click=screen.credit(0)]$no[/]"


class MockInterviewScreen(AskingScreen, InterviewClock):
    """Every step is on disk before the next question; leaving stops the clock."""

    CSS_PATH = Path(__file__).with_name("mock_interview.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "reveal", "key.reveal", key_display="Space"),
        Binding("enter", "reveal", "key.reveal", show=False),
        Binding("enter", "submit", "key.submit", key_display="Enter"),
        Binding("enter", "settle", "key.settle", key_display="Enter"),
        Binding("a", "points", "key.points", key_display="a-g"),
        Binding("2", "credit(2)", "key.credit", key_display="0-2"),
        Binding("1", "credit(1)", "key.credit", show=False),
        Binding("0", "credit(0)", "key.credit", show=False),
        Binding("s", "skip", "key.skip"),
        Binding("n", "next_part", "key.next-part"),
        Binding("u", "undo", "key.undo"),
        Binding("ctrl+z", "undo", "key.undo", show=False),
        Binding("x", "end", "key.end-mock"),
        Binding("escape,q", "back", "key.stop-clock", key_display="Esc"),
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
            return say("mock.title", self.lang), "", ""
        topic = self.topic_title(asked.card.topic)
        detail = f"{FOLLOW_UP[self.lang]} · {topic}" if item.kind == "follow-up" else topic
        return PART_NAMES[part.name][self.lang], detail, item.id

    def body(self) -> Iterable[Widget]:
        yield MockTimeLine(self.interview, self.lang)
        yield Sheet(*self._parts(), id="sheet")

    def _parts(self) -> Iterable[Widget]:
        if self.asked is None:
            return
        yield from asked_parts(self.asked, self.lang, self.question_of, in_quiz=True)
        if self._wants_credit():
            whole, partly, no = say("mock.credit", self.lang).split(" · ")
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
        """Hands in the answer; nothing at all is handed in at the second Enter alone."""
        if (asked := self.asked) is None or not asked.is_marked_automatically:
            return
        if not self.is_blank(asked) and self.hand_in(asked):
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
        texts = [say(key, self.lang) for key in ("mock.end", "mock.yes-end", "mock.no-end")]
        if await self.app.push_screen_wait(ConfirmScreen(*texts)):
            await self._step(self.interview.end)

    async def _step(self, step: Callable[[], None]) -> None:
        """Records a step and shows what comes next; what cannot be recorded is said, and can be tried again."""
        with self.attn.telling():
            step()
            self.app.clear_notifications()
            if self.asked is None:
                self.is_left = True
                self.attn.show_interview(self.interview)
            else:
                await self._show()

    async def _show(self) -> None:
        self.query_one(TitleBar).show(*self._titles())
        self.query_one(MockTimeLine).refresh()
        sheet = self.query_one(Sheet)
        await mount_anew(sheet, self._parts())
        sheet.scroll_home(animate=False)
        self.focus_first()
        self.refresh_bindings()
