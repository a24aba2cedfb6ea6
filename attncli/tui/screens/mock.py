"""Mock interview: going on with one, choosing a new one, and the reports of those that were held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.card import LEVELS
from attncli.practice import mock_log
from attncli.practice.compose_mock import MockWish, split
from attncli.practice.mock import MockInterview
from attncli.practice.score_mock import past_mocks
from attncli.tui.screens.sitting_choice import START, WishRows, WishScreen
from attncli.tui.widgets.plain import Plain
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say
from attncli.words.mock_texts import LEVEL_NAMES, PART_NAMES

MINUTES = (15, 30, 45, 60)
RESUME = "resume"


class MockRows(WishRows):
    """Enter opens the reports that stand below; what it does on a row above them is named there."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "key.open", key_display="Enter"),
        Binding("enter,space", "select", "key.change", show=False),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        row = self.highlighted_option
        return action != "open" or (row is not None and row.id not in (START, RESUME, *MockScreen.FIELDS))

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        self.refresh_bindings()

    def action_open(self) -> None:
        self.action_select()


class MockScreen(WishScreen[MockWish]):
    """Begins with `wish`; where an interview is unfinished, the first row goes on with it."""

    CSS_PATH = Path(__file__).with_name("mock.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "start", "key.start")]
    FIELDS = ("minutes", "level", "interviewer")
    NAME_CELLS = 24

    def title_bar(self) -> TitleBar:
        return TitleBar(say("mock.title", self.lang))

    def body(self) -> Iterable[Widget]:
        yield MockRows(self.rows(), id="mock")
        yield Plain(say("mock.note", self.lang), id="note")

    async def look_again(self) -> None:
        self.show_anew()

    def rows(self) -> list[tuple[str, Content]]:
        rows = [(START, self._start_row()), *((name, self.row(name)) for name in self.FIELDS)]
        unfinished = mock_log.unfinished(self.workspace)
        if unfinished is not None and unfinished.part is not None:
            part, at = PART_NAMES[unfinished.part.name][self.lang], unfinished.begun_at.astimezone()
            said = say("mock.resume", self.lang, part=part, at=at)
            rows.insert(0, (RESUME, Content.styled(f"▶ {said}", "bold $primary")))
        return [*rows, *self._past()]

    def _start_row(self) -> Content:
        minutes = split(self.wish.minutes)
        parts = " · ".join(f"{PART_NAMES[name][self.lang]} {count}" for name, count in minutes.items())
        return Content.styled(f"▶ {say('mock.start', self.lang, parts=parts)}", "bold $primary")

    def label(self, name: str) -> str:
        return say(f"mock.{name}", self.lang)

    def named(self, name: str, value: Any) -> str:
        if isinstance(value, bool):
            return say("drill.yes" if value else "drill.no", self.lang)
        return str(value) if name == "minutes" else say(f"review.level-{value}", self.lang)

    def _past(self) -> list[tuple[str, Content]]:
        rows = []
        for report in past_mocks(self.workspace):
            told = {"at": report.begun_at.astimezone(), "minutes": report.minutes, "share": report.share}
            said = say("mock.past", self.lang, level=LEVEL_NAMES[report.level][self.lang], **told)
            rows.append((report.id, Content.styled(f"  {said}", "$text-muted")))
        return rows

    def values(self, name: str) -> Sequence[Any]:
        match name:
            case "minutes":
                return sorted({*MINUTES, self.wish.minutes})
            case "level":
                return LEVELS
        return [False, True]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        match event.option_id:
            case "resume":
                self._resume()
            case "start":
                self.action_start()
            case "minutes" | "level" | "interviewer":
                self.change(event.option_id, 1)
            case str(id):
                self._show_report(id)

    def _resume(self) -> None:
        self._show(lambda: MockInterview.resume(self.workspace))

    def _show(self, opened: Callable[[], MockInterview | None]) -> None:
        """The interview itself, in the place of this screen; a row may be chosen with the mouse, so errors end here.

        What was pressed a second time, before the first showed, begins no second interview.
        """
        with self.attn.telling():
            if self.is_current and (interview := opened()) is not None:
                self.attn.show_interview(interview)

    def _show_report(self, id: str) -> None:
        for report in past_mocks(self.workspace):
            if report.id == id:
                self.attn.open_mock_report(report)

    def action_start(self) -> None:
        """Draws the interview and begins; the one that is unfinished ends, and its report stays."""
        self._show(lambda: MockInterview.begin(self.workspace, self.wish))
