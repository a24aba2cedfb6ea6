"""Widgets to answer a card: marked rows (options, items, lines of code), typed fields, and plain lists.

Answers are written to the `Asked` that the widget was given as soon as they change. Keys work in the rows under the
cursor, the mouse in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.errors import NoWidget
from textual.highlight import highlight
from textual.message import Message
from textual.style import Style
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from attncli.domain.parts import Arrange, Choose, Entry, Fill, FindLine
from attncli.i18n import N_, Lang, Localised, _
from attncli.tui.formulas import inline
from attncli.tui.widgets.basics import Answered, LineField, LineWidget, Plain, SolidBackground

if TYPE_CHECKING:
    from attncli.practice.marking import Asked

_COLUMN_GAP = Style.from_meta({"apart": True})
"""Style that makes the space between mark and text a separate segment: they are two columns."""


class MarkedRow(LineWidget):
    """A mark and a text that may wrap beside it; a click chooses it."""

    @dataclass
    class Chosen(Message):
        """Posted when the row was clicked."""

        index: int

    def __init__(self, index: int, mark: str, text: Content, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self.index = index
        self._mark, self._text = mark, text

    def show(self, mark: str, text: Content) -> None:
        if mark != self._mark or not text.is_same(self._text):
            self._mark, self._text = mark, text
            self.refresh(layout=True)

    def lines(self, width: int) -> list[Content]:
        room = cell_len(self._mark) + 1
        first, *others = self._text.wrap(max(1, width - room)) or [Content("")]
        return [
            Content.assemble(self._mark, (" ", _COLUMN_GAP), first),
            *(Content.assemble((" " * room, _COLUMN_GAP), line) for line in others),
        ]

    def on_click(self) -> None:
        self.post_message(self.Chosen(self.index))


class MarkedRows(SolidBackground, Vertical, can_focus=True):
    """Rows of `texts`, one under a cursor. Subclasses define the mark of a row and the effect of choosing it."""

    DEFAULT_CSS = """
    MarkedRows { height: auto; width: 1fr; margin: 0 0 1 0; }
    MarkedRows:focus > MarkedRow.-cursor { background: $panel; text-style: bold; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor(-1)", N_("Up"), show=False),
        Binding("down", "cursor(1)", N_("Down"), show=False),
        Binding("space", "choose_cursor", N_("Tick"), show=False),
    ]

    def __init__(self, texts: Sequence[Content]) -> None:
        super().__init__()
        self.texts = list(texts)
        self.cursor = 0
        self.closed = False

    def mark(self, index: int) -> str:
        raise NotImplementedError

    def choose(self, index: int) -> None:
        raise NotImplementedError

    def text(self, index: int) -> Content:
        return self.texts[index]

    def compose(self) -> ComposeResult:
        for index in range(len(self.texts)):
            under_cursor = "-cursor" if self._is_under_cursor(index) else None
            yield MarkedRow(index, self._marked(index), self.text(index), classes=under_cursor)

    def close(self) -> None:
        """Accept no more choices, and show which rows are right."""
        self.closed = True
        self.refresh_rows()

    def refresh_rows(self) -> None:
        for row in self.query(MarkedRow):
            row.show(self._marked(row.index), self.text(row.index))
            row.set_class(self._is_under_cursor(row.index), "-cursor")

    def press(self, letter: str) -> bool:
        """Choose the row of `letter` (a, b, c …); return False if there is none."""
        index = ord(letter) - ord("a") if len(letter) == 1 else -1
        if not 0 <= index < len(self.texts):
            return False
        self.cursor = index
        self.choose(index)
        self._show_cursor()
        return True

    def action_cursor(self, step: int) -> None:
        target = self.cursor + step
        if self.closed or not 0 <= target < len(self.texts) or not self._visible(self.cursor):
            raise SkipAction
        self.cursor = target
        self._show_cursor()

    def _show_cursor(self) -> None:
        """Scroll to the row under the cursor, if it is mounted."""
        self.refresh_rows()
        for row in self.query(MarkedRow):
            if row.index == self.cursor:
                row.scroll_visible(animate=False)

    def action_choose_cursor(self) -> None:
        if self.closed:
            raise SkipAction
        self.choose(self.cursor)
        self.refresh_rows()

    def on_marked_row_chosen(self, message: MarkedRow.Chosen) -> None:
        message.stop()
        if not self.closed:
            self.cursor = message.index
            self.choose(message.index)
            self.refresh_rows()

    def _marked(self, index: int) -> str:
        pointer = "›" if self._is_under_cursor(index) else " "
        return pointer + self.mark(index)

    def _is_under_cursor(self, index: int) -> bool:
        return index == self.cursor and not self.closed

    def _visible(self, index: int) -> bool:
        rows = [row for row in self.query(MarkedRow) if row.index == index]
        try:
            return bool(rows) and bool(self.screen.find_widget(rows[0]).visible_region)
        except NoWidget:  # in a terminal that is too small nothing is laid out
            return False


class RowsAnswer(MarkedRows):
    """Rows to answer a card. Once revealed, they accept no more choices and show which ones are right."""

    def __init__(self, asked: Asked, lang: Lang) -> None:
        super().__init__(self._texts(asked, lang))
        self.asked, self.entry = asked, asked.entry
        self.lang: Lang = lang
        self.closed = asked.revealed

    def _texts(self, asked: Asked, lang: Lang) -> list[Content]:
        return [inline(text) for text in asked.rows(lang)]

    def _with_own(self, index: int, text: Content) -> Content:
        """Return the text of a row, which says so if the learner chose it."""
        if index not in self.asked.answer.places:
            return text
        return Content.assemble(text, "  ", (_("(your answer)")[self.lang], "bold"))

    def complete(self) -> None:
        """Choose the row under the cursor, if one is wanted and none is chosen."""


class ChoiceAnswer(RowsAnswer):
    """Options, in the order drawn this time.

    Letters choose; with one right option a choice replaces the last. Revealed, every wrong option says why.
    """

    def mark(self, index: int) -> str:
        letter = chr(ord("A") + index)
        chosen, several = index in self.asked.answer.places, self.entry.wanted != 1
        if self.closed:
            sign = "✓" if self.entry.rows[index].right else "✗" if chosen else " "
            return f"{letter} {sign}"
        sign = ("x" if several else "•") if chosen else " "
        return f"{letter} [{sign}]" if several else f"{letter} ({sign})"

    def text(self, index: int) -> Content:
        if not self.closed:
            return self.texts[index]
        text, why = self._with_own(index, self.texts[index]), self.entry.rows[index].why
        return Content.assemble(text, "\n", inline(why[self.lang]).stylize("$text-muted")) if why else text

    def choose(self, index: int) -> None:
        chosen = {index} ^ set(self.asked.answer.places) if self.entry.wanted != 1 else {index}
        self.asked.answer.places = sorted(chosen)

    def complete(self) -> None:
        if self.entry.wanted == 1 and not self.asked.answer.places:
            self.choose(self.cursor)


class OrderingAnswer(RowsAnswer):
    """Items to put in order: arrows (j, k) choose an item, with Shift (J, K) they move it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+up,K", "move(-1)", N_("Move item"), key_display="Shift+↑/↓"),
        Binding("shift+down,J", "move(1)", N_("Move item down"), show=False),
        Binding("k", "cursor(-1)", N_("Up"), show=False),
        Binding("j", "cursor(1)", N_("Down"), show=False),
    ]

    def mark(self, index: int) -> str:
        return f"{index + 1}."

    def text(self, index: int) -> Content:
        return self.texts[self.asked.answer.places[index]]

    def choose(self, index: int) -> None:
        """Do nothing more: a click only moves the cursor."""

    def press(self, letter: str) -> bool:
        return False

    def action_move(self, step: int) -> None:
        if self.closed:
            raise SkipAction
        order, target = self.asked.answer.places, self.cursor + step
        if 0 <= target < len(order):
            order[self.cursor], order[target] = order[target], order[self.cursor]
            self.cursor = target
            self._show_cursor()


@lru_cache(maxsize=8)
def _highlighted_lines(code: str) -> list[Content]:
    """Cache highlighted code between question and answer: highlighting takes a third of the time to show a card."""
    return highlight(code.rstrip(), language="python").split("\n", allow_blank=True)


class DebugCode(RowsAnswer):
    """Numbered code; the line under the cursor is the answer. Revealed, the lines that are an answer have a ✓."""

    DEFAULT_CSS = """
    DebugCode { background: $surface; padding: 1 1; }
    """

    def __init__(self, asked: Asked, lang: Lang) -> None:
        super().__init__(asked, lang)
        self.cursor = next(iter(asked.answer.places), 0)
        if not self.closed:
            self.choose(self.cursor)

    def _texts(self, asked: Asked, lang: Lang) -> list[Content]:
        return _highlighted_lines("\n".join(asked.rows(lang)))

    def mark(self, index: int) -> str:
        number = f"{index + 1:>2}"
        if not self.closed:
            return f"{number} │"
        sign = "✓" if self.entry.rows[index].right else "✗" if index in self.asked.answer.places else " "
        return f"{number} {sign}"

    def text(self, index: int) -> Content:
        line = self.texts[index]
        if not self.closed:
            return line
        return self._with_own(index, line.stylize("bold underline") if self.entry.rows[index].right else line)

    def choose(self, index: int) -> None:
        self.asked.answer.places = [index]

    def press(self, letter: str) -> bool:
        return False

    def action_cursor(self, step: int) -> None:
        super().action_cursor(step)
        self.choose(self.cursor)


# Typed answers

_COMMANDS = frozenset({"u", "l", "q", "exclamation_mark", "question_mark"})


class AnswerField(LineField):
    """A field for an answer; Enter moves to the next one, or answers.

    With `numbers`, an empty field leaves keys that cannot start a number to the screen, so that undo and help work
    without Escape.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", N_("Submit"), show=True),
        Binding("escape", "leave", N_("Leave the field"), key_display="Esc"),
        Binding("up", "app.focus_previous", N_("Up"), show=False),
        Binding("down", "app.focus_next", N_("Down"), show=False),
    ]

    def __init__(self, value: str, numbers: bool, name: str, disabled: bool) -> None:
        super().__init__(value, name=name, disabled=disabled)
        self.numbers = numbers

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return not self._leaves(key) and super().check_consume_key(key, character)

    async def on_key(self, event: events.Key) -> None:
        if self._leaves(event.key):
            event.prevent_default()  # keeps `KeysInOrder.on_key` from running

    def _leaves(self, key: str) -> bool:
        return self.numbers and not self.value and key in _COMMANDS

    def action_leave(self) -> None:
        """Drop the focus, so that the single-letter keys of the screen work again."""
        self.screen.set_focus(None)


class TypedAnswer(Vertical):
    """A field for a number (`48`, `1.5e3`, `3/4`, `1.2 TiB`, `1750亿`), or one for each blank, in order.

    Typed text goes to the answer at once.
    """

    DEFAULT_CSS = """
    TypedAnswer { height: auto; width: 1fr; margin: 0 0 1 0; }
    TypedAnswer Horizontal { height: 1; }
    TypedAnswer .label, TypedAnswer .unit { width: auto; padding: 0 1 0 0; }
    TypedAnswer .unit { padding: 0 1; color: $text-muted; }
    TypedAnswer AnswerField { width: 32; height: 1; border: none; padding: 0 1; background: $panel; }
    TypedAnswer AnswerField:focus { background: $primary 25%; border: none; }
    """

    def __init__(self, asked: Asked, lang: Lang) -> None:
        super().__init__()
        self.asked, self.answer = asked, asked.answer
        self.lang: Lang = lang

    def compose(self) -> ComposeResult:
        entry = self.asked.entry
        assert isinstance(entry, Fill)
        for index, text in enumerate(self.answer.texts):
            label = _("Your answer") if entry.is_number else _("Blank {n}", n=index + 1)
            with Horizontal():
                yield Plain(f"{label[self.lang]}{self._sign(index)}", classes="label")
                yield AnswerField(text, entry.is_number, str(index), self.asked.revealed)
                yield Plain(entry.unit, classes="unit")

    def _sign(self, index: int) -> str:
        marked = self.asked.marked
        if marked is None:
            return ""
        right = marked.parts[index] if index < len(marked.parts) else marked.correct
        return " ✓" if right else " ✗"

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        index = int(event.input.name or 0)
        became_empty_or_filled = bool(self.answer.texts[index]) != bool(event.value)
        self.answer.texts[index] = event.value
        if became_empty_or_filled:  # the field now takes other keys, and the key bar shows which
            self.screen.refresh_bindings()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        fields = list(self.query(AnswerField))
        # With fast keys the change arrives after the Enter that followed it.
        self.answer.texts[:] = [field.value for field in fields]
        index = fields.index(event.input) if isinstance(event.input, AnswerField) else 0
        if index + 1 < len(fields):
            self.screen.set_focus(fields[index + 1])
        else:
            self.post_message(Answered())


ANSWER_WIDGETS: dict[type[Entry], type[RowsAnswer | TypedAnswer]] = {
    Choose: ChoiceAnswer,
    Arrange: OrderingAnswer,
    FindLine: DebugCode,
    Fill: TypedAnswer,
}


def hint(entry: Entry, in_quiz: bool) -> Localised:
    """Return how to answer with the widget. In a quiz no hint promises an answer before the end."""
    match entry:
        case Arrange():
            return _("Put them in order: Shift+↑/↓ moves an item, Enter submits.")
        case FindLine():
            return _("Which line is wrong? Select it with ↑/↓, then press Enter.")
        case Fill(is_number=False):
            return _("Enter goes to the next blank, then submits. Any equivalent formula is accepted.")
        case Fill() if in_quiz:
            return _("Type a number (48, 1.5e3, 3/4, 2**20), then Enter.")
        case Fill():
            return _("Type a number (48, 1.5e3, 3/4, 2**20), then Enter. Enter alone shows the answer.")
    if entry.wanted == 1:
        return _("Press the letter of your choice, then Enter.")
    return _("Press the letter of each correct option, then Enter.")


# Lists to choose from

_MARGIN_CELLS, _MAX_ROW_CELLS = 7, 110


def row_width(screen_width: int) -> int:
    """Return the cells of a row on a screen, without margins, padding and scrollbar."""
    return max(20, min(_MAX_ROW_CELLS, screen_width - _MARGIN_CELLS))


class Rows(OptionList):
    """A list of rows with ids, whose keys the key bar shows; Enter opens the row under the cursor (arrows, j and k)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", N_("Open"), key_display="Enter"),
        Binding("j", "cursor_down", N_("Down"), show=False, key_display="↓ j"),
        Binding("k", "cursor_up", N_("Up"), show=False, key_display="↑ k"),
    ]

    def __init__(self, rows: list[tuple[str, Content]] | None = None, *, id: str | None = None) -> None:
        super().__init__(*(Option(row, id=row_id) for row_id, row in rows or ()), id=id, markup=False)
        if rows:
            self.highlighted = 0

    def enter(self) -> None:
        """Take the focus, unless there is nothing to choose."""
        if self.option_count:
            self.focus()

    def show_rows(self, rows: list[tuple[str, Content]], stay: bool = True) -> None:
        """Replace the rows; with `stay` the cursor keeps its id if that still exists, else it goes to the first row."""
        before = self.highlighted_option.id if stay and self.highlighted_option else None
        self.clear_options()
        self.add_options([Option(row, id=id) for id, row in rows])
        ids = [id for id, _ in rows]
        self.highlighted = ids.index(before) if before in ids else (0 if rows else None)

    def add_rows(self, rows: list[tuple[str, Content]]) -> None:
        """Append rows."""
        self.add_options([Option(row, id=id) for id, row in rows])

    def action_page_up(self) -> None:
        if self.scrollable_content_region:
            super().action_page_up()

    def action_page_down(self) -> None:
        """Do nothing if there is no room for a row: a page has no height then."""
        if self.scrollable_content_region:
            super().action_page_down()
