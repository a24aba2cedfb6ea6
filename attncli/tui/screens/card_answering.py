"""What the screens share on which a card is answered: where the keys go, and handing in what was given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import chain

from textual import events
from textual.widget import Widget

from attncli.errors import UsageError
from attncli.practice.cards.ask import Asked
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widget_events import Answered, PointsTicked
from attncli.tui.widgets.answers import MarkedRows
from attncli.tui.widgets.behind import Behind
from attncli.tui.widgets.card import Sheet, answer_among, behind_parts
from attncli.tui.widgets.choice import ChoiceAnswer
from attncli.tui.widgets.typed_answer import AnswerField, TypedAnswer
from attncli.words.app_texts import say

STEP_SECONDS = 0.01


class AskingScreen(AttnScreen):
    """`asked` is the card that is being answered, None if there is none; its sheet is the only one."""

    asked: Asked | None
    warned: Asked | None = None
    _ready: tuple[object, Behind | None] = (None, None)
    _steps: Iterator[None] | None = None

    def focus_first(self) -> None:
        sheet = self.query_one(Sheet)
        answer = sheet.answer()
        if isinstance(answer, TypedAnswer) and not (self.asked and self.asked.revealed):
            answer.query(AnswerField).first().focus()
        elif isinstance(answer, MarkedRows) and not answer.closed:
            answer.focus(scroll_visible=False)
        else:
            sheet.focus()

    async def show_asked(self, coming: Sequence[Widget], meanwhile: Callable[[], Awaitable[None]]) -> None:
        """Shows what `asked` is now on the sheet; `coming` is in front, `meanwhile` shows what stands beside it.

        The question and the rows of an answer stay where the card does. Textual styles whatever gets or loses the keys
        anew, with all that it holds: they go while that is little.
        """
        sheet = self.query_one(Sheet)
        if self.focused is not sheet:
            self.set_focus(None)
        kept, behind = sheet.kept_for(self.asked), self.uncovered()
        sheet.asked = self.asked
        sheet.put_away([*kept, *behind])
        coming = [*coming[len(kept) :], *(part for part in behind if not part.is_attached)]
        answer = answer_among([*kept, *coming, *(part for place in behind for part in place.children)])
        takes_keys = isinstance(answer, MarkedRows) and not answer.closed
        self.set_focus(None if takes_keys or isinstance(answer, TypedAnswer) else sheet)
        await meanwhile()
        mounted = sheet.mount_all(coming, before=next((part for part in behind if part.is_attached), None))
        if takes_keys:
            self.set_focus(answer, scroll_visible=False)
        await mounted
        self.focus_first()

    def uncovered(self) -> list[Behind]:
        """What stands behind the question, if the answer was asked for: the one that was made ready, or a new one."""
        asked, (of, ready) = self.asked, self._ready
        self._ready = (None, None)
        if asked is None or not asked.revealed:
            return []
        if ready is None or not ready.is_attached or of != self._readiness(asked):
            groups = behind_parts(asked, self.lang, self.question_of)
            return [Behind(*chain.from_iterable(groups), covered=False)]
        ready.complete()
        ready.cover(False)
        return [ready]

    def _readiness(self, asked: Asked) -> object:
        """What has to be the same for what was made ready to be what is shown."""
        return asked.card, self.lang, frozenset(asked.ticked), frozenset(asked.opened)

    @property
    def is_ready(self) -> bool:
        """Whether nothing is being prepared for the next key."""
        return self._steps is None

    def get_ready(self) -> None:
        """Prepares what the next key shows, in steps between which a key may come."""
        is_on_its_way = not self.is_ready
        self._steps = self._preparations()
        if not is_on_its_way:
            self.set_timer(STEP_SECONDS, self._take_step)

    def _take_step(self) -> None:
        if self._steps is None or not self.is_attached or next(self._steps, self) is self:
            self._steps = None
        else:
            self.set_timer(STEP_SECONDS, self._take_step)

    def _preparations(self) -> Iterator[None]:
        asked = self.asked
        for sheet in self.query(Sheet) if asked is not None and not asked.revealed else ():
            assert asked is not None
            behind = Behind(coming=behind_parts(asked, self.lang, self.question_of))
            self._ready = (self._readiness(asked), behind)
            sheet.mount(behind)
            yield
            yield from behind.steps()
            sheet.clear()

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

    async def action_submit(self) -> None:
        """Hands in the answer to `asked`."""
        raise NotImplementedError

    async def on_answered(self, message: Answered) -> None:
        message.stop()
        await self.action_submit()

    def on_points_ticked(self, message: PointsTicked) -> None:
        message.stop()
        points = self.query_one(Sheet).rows[-1:]
        if self.asked is not None and points:
            self.asked.ticked = set(getattr(points[0], "ticked", ()))
            self.points_taken(self.asked)

    def points_taken(self, asked: Asked) -> None:
        """Called when other points are ticked."""

    def action_points(self) -> None:
        """The first letter; the others arrive in `on_key`."""
        self.press_letter("a")

    def on_key(self, event: events.Key) -> None:
        if event.character and self.press_letter(event.character.lower()):
            event.stop()

    def press_letter(self, letter: str) -> bool:
        """Chooses the row that has this letter; False where there is none."""
        rows = [rows for sheet in self.query(Sheet) for rows in sheet.rows if not rows.closed]
        return bool(rows) and rows[-1].press(letter)
