"""What an interviewer asks next: each question opens its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from attncli.domain.card import FollowUp
from attncli.domain.text import Lang, Localised
from attncli.tui.columns import beside
from attncli.tui.markup import inline
from attncli.tui.widgets.even import Even
from attncli.tui.widgets.lined import Lined
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

    def __init__(self, index: int, text: Content) -> None:
        super().__init__(text)
        self.index = index

    def action_turn(self) -> None:
        self.post_message(self.Turned(self.index))

    def on_click(self) -> None:
        self.action_turn()


class Linked(Lined):
    """Follow-ups that are cards of their own: the id of each, and its question beside it."""

    DEFAULT_CSS = "Linked { height: auto; width: 1fr; }"

    def __init__(self, cards: Sequence[tuple[Content, Content]]) -> None:
        super().__init__()
        self._cards = cards

    def lines(self, width: int) -> list[Content]:
        return [line for card, question in self._cards for line in beside(card, question, width)]


class FollowUps(Even, Vertical):
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
        for has_answer, entries in groupby(enumerate(self._entries), lambda numbered: bool(numbered[1].answer)):
            if has_answer:
                yield from (AskedNext(index, self._asked(index)) for index, _ in entries)
            else:
                yield Linked([self._linked(entry) for _, entry in entries])

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
        row = next(row for row in self.query(AskedNext) if row.index == index)
        row.update(self._asked(index))
        self.call_after_refresh(row.scroll_visible, animate=False)

    def _asked(self, index: int) -> Content:
        entry, is_open = self._entries[index], index in self._opened
        assert entry.ask and entry.answer
        question = Content.assemble(("▾ " if is_open else "▸ ", "$primary"), inline(entry.ask[self._lang]))
        if not is_open:
            return question
        more = Content.styled(f"  → {entry.card}", "$text-muted") if entry.card else Content()
        return Content("\n").join([question.stylize("bold"), inline(entry.answer[self._lang]) + more])

    def _linked(self, entry: FollowUp) -> tuple[Content, Content]:
        question = self._questions(entry.card)
        text = inline(question[self._lang]) if question else Content()
        indent = "  " if any(other.answer for other in self._entries) else ""
        return Content.assemble(indent, (f"{entry.card}  ", "$text-muted")), text
