"""What the screens share on which a card is answered: where the keys go, and handing in what was given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from textual import events
from textual.widget import Widget

from attncli.errors import UsageError
from attncli.practice.cards.ask import Asked
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.card_sheet import Sheet, answer_among
from attncli.tui.widgets.choice import ChoiceAnswer
from attncli.tui.widgets.marked_rows import MarkedRows
from attncli.tui.widgets.typed_answer import AnswerField, TypedAnswer
from attncli.words.app_texts import say


class AskingScreen(AttnScreen):
    """`asked` is the card that is being answered, None if there is none; its sheet is the only one."""

    asked: Asked | None
    warned: Asked | None = None

    def focus_first(self) -> None:
        sheet = self.query_one(Sheet)
        answer = sheet.answer()
        if isinstance(answer, TypedAnswer) and not (self.asked and self.asked.revealed):
            answer.query(AnswerField).first().focus()
        elif isinstance(answer, MarkedRows) and not answer.closed:
            answer.focus(scroll_visible=False)
        else:
            sheet.focus()

    async def show_parts(self, parts: Iterable[Widget], meanwhile: Callable[[], Awaitable[None]]) -> None:
        """Puts `parts` on the sheet, in the place of what stood there; `meanwhile` shows what stands beside it.

        The question and the rows of an answer stay where the card does. Textual styles whatever gets or loses the keys
        anew, with all that it holds: they go while that is little.
        """
        sheet = self.query_one(Sheet)
        if self.focused is not sheet:
            self.set_focus(None)
        kept = sheet.kept_for(self.asked)
        sheet.asked = self.asked
        await sheet.remove_children([child for child in sheet.children if child not in kept])
        coming = list(parts)[len(kept) :]
        answer = answer_among([*kept, *coming])
        takes_keys = isinstance(answer, MarkedRows) and not answer.closed
        self.set_focus(None if takes_keys or isinstance(answer, TypedAnswer) else sheet)
        await meanwhile()
        mounted = sheet.mount_all(coming)
        if takes_keys:
            self.set_focus(answer, scroll_visible=False)
        await mounted
        self.focus_first()

    def hand_in(self, asked: Asked) -> bool:
        """Marks what was given; False where it cannot be read, which is said."""
        self.complete()
        try:
            asked.submit()
        except UsageError as error:
            self.attn.tell(error)
            return False
        return True

    def is_blank(self, asked: Asked) -> bool:
        """Whether nothing was given, said once: at the second Enter nothing at all is handed in."""
        self.complete()
        if not asked.is_blank or self.warned is asked:
            return False
        self.warned = asked
        self.notify(say("quiz.blank", self.lang))
        return True

    def complete(self) -> None:
        """Enter on an option means it, where nothing else was chosen."""
        answer = self.query_one(Sheet).answer()
        if isinstance(answer, ChoiceAnswer):
            answer.complete()

    def on_key(self, event: events.Key) -> None:
        if event.character and self.press_letter(event.character.lower()):
            event.stop()

    def press_letter(self, letter: str) -> bool:
        """Chooses the row that has this letter; False where there is none."""
        rows = [rows for sheet in self.query(Sheet) for rows in sheet.query(MarkedRows) if not rows.closed]
        return bool(rows) and rows[-1].press(letter)
