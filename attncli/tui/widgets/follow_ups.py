"""What an interviewer asks next: each question opens its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from attncli.domain.card import FollowUp
from attncli.domain.text import Lang, Localised
from attncli.tui.markup import inline
from attncli.tui.widgets.plain import Plain

Questions = Callable[[str], Localised | None]


class AskedNext(Plain, can_focus=True):
    """One follow-up; with an answer of its own, Enter, Space or a click opens and closes it."""

    DEFAULT_CSS = """
    AskedNext { height: auto; width: 1fr; }
    AskedNext:focus { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "turn", "key.open", show=False),
        Binding("space", "turn", "key.open", show=False),
    ]

    class Turned(Message):
        """A follow-up was opened or closed."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index

    def action_turn(self) -> None:
        self.post_message(self.Turned(self.index))

    def on_click(self) -> None:
        self.action_turn()


class FollowUps(Vertical):
    """`opened` holds the places of the open ones; it belongs to the card that is shown and outlives this widget."""

    DEFAULT_CSS = """
    FollowUps { height: auto; width: 1fr; margin: 0 0 1 0; }
    FollowUps > Plain { height: auto; }
    """

    def __init__(self, entries: Sequence[FollowUp], opened: set[int], lang: Lang, questions: Questions) -> None:
        super().__init__()
        self._entries, self._opened = tuple(entries), opened
        self._lang, self._questions = lang, questions

    def compose(self) -> ComposeResult:
        for index, entry in enumerate(self._entries):
            yield AskedNext(index) if entry.answer else Plain(self._linked(entry))

    def on_mount(self) -> None:
        self._show()

    @property
    def closed(self) -> list[int]:
        """The places of those whose answer is still to be opened."""
        return [n for n, entry in enumerate(self._entries) if entry.answer and n not in self._opened]

    def open_next(self) -> None:
        """Opens the first answer that is still closed."""
        if closed := self.closed:
            self._turn(closed[0])

    def on_asked_next_turned(self, message: AskedNext.Turned) -> None:
        message.stop()
        self._turn(message.index)

    def _turn(self, index: int) -> None:
        self._opened ^= {index}
        self._show()
        row = next(row for row in self.query(AskedNext) if row.index == index)
        self.call_after_refresh(row.scroll_visible, animate=False)

    def _show(self) -> None:
        for row in self.query(AskedNext):
            row.update(self._asked(self._entries[row.index], row.index in self._opened))

    def _asked(self, entry: FollowUp, is_open: bool) -> Content:
        assert entry.ask and entry.answer
        question = Content.assemble(("▾ " if is_open else "▸ ", "$primary"), inline(entry.ask[self._lang]))
        if not is_open:
            return question
        more = Content.styled(f"  → {entry.card}", "$text-muted") if entry.card else Content()
        return Content("\n").join([question.stylize("bold"), inline(entry.answer[self._lang]) + more])

    def _linked(self, entry: FollowUp) -> Content:
        question = self._questions(entry.card)
        text = inline(question[self._lang]) if question else ""
        beside = "  " if any(other.answer for other in self._entries) else ""
        return Content.assemble(beside, (f"{entry.card}  ", "$text-muted"), text)
