"""Review: one card after the other, each rating on disk before the next card is shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from attncli.domain.log_row import Rating, RowKind
from attncli.errors import AttnError, NotFound, StoreBusy, UsageError
from attncli.practice.marking import Asked
from attncli.practice.queue import Wish
from attncli.practice.review import ReviewSitting, SittingItem
from attncli.tui.screens.base import RETRIES, RETRY_SECONDS, AttnScreen, fault_text
from attncli.tui.widgets.answers import AnswerField, ChoiceAnswer, MarkedRows, TypedAnswer
from attncli.tui.widgets.basics import Answered, Behind, FaultLine, PointsTicked, Rated, TitleBar, mount_in
from attncli.tui.widgets.card import Sheet, answer_among, behind_parts, front_parts
from attncli.tui.widgets.session import AnswerClock, Progress, RatingBar, SessionEnd, waiting_counts
from attncli.words.app_texts import say

# What the screens share on which a card is answered: where the keys go, and handing in what was given.

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


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the log, what is shown once it is stored, and how often it is still tried if another is writing."""

    store: Callable[[], object]
    then: Callable[[], Awaitable[None]]
    tries: int = RETRIES


class ReviewScreen(AskingScreen):
    """`topic` None reviews everything that is due; a `wish`, or what is `planned` for today, is asked instead."""

    CSS_PATH = Path(__file__).with_name("review.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "reveal", "key.reveal", key_display="Space"),
        Binding("enter", "reveal", "key.reveal", show=False),
        Binding("enter", "submit", "key.submit", key_display="Enter"),
        Binding("enter", "accept", "key.accept", key_display="Enter"),
        Binding("enter", "back", "key.home", show=False),
        Binding("1", "rate(1)", "key.rate", key_display="1-4"),
        Binding("2", "rate(2)", "key.rate", show=False),
        Binding("3", "rate(3)", "key.rate", show=False),
        Binding("4", "rate(4)", "key.rate", show=False),
        Binding("a", "points", "key.points", key_display="a-g"),
        Binding("x", "experiment", "key.experiment"),
        Binding("u", "undo", "key.undo"),
        Binding("ctrl+z", "undo", "key.undo"),
        Binding("minus", "bury", "key.bury", key_display="-"),
        Binding("exclamation_mark", "suspend", "key.suspend", key_display="!"),
        Binding("escape,q", "back", "key.home", key_display="Esc"),
    ]

    def __init__(
        self,
        topic: str | None = None,
        limit: int | None = None,
        wish: Wish | None = None,
        planned: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.topic, self.limit, self.wish, self.planned = topic, limit, wish, planned
        self.asked: Asked | None = None
        self.item: SittingItem | None = None
        self.fault = ""
        self.waiting: Change | None = None

    def _begin(self) -> None:
        self.drill = self._sitting()
        self.began_at = self.workspace.clock()
        self._take_next()

    def _sitting(self) -> ReviewSitting:
        if self.planned:
            from attncli.practice.review import PlanSitting

            return PlanSitting(self.workspace, self.planned)
        if self.wish is None:
            return ReviewSitting(self.workspace, self.topic, self.limit)
        from attncli.practice.review import ChosenDrill

        return ChosenDrill(self.workspace, self.wish, self.attn.rng)

    def _take_next(self) -> None:
        self._ask(self.drill.next())

    def _ask(self, item: SittingItem | None) -> None:
        self.item, self.fault, self.asked_at = item, "", self.workspace.clock()
        self.asked = Asked.of(item.card, self.attn.rng) if item else None

    def title_bar(self) -> TitleBar:
        if not hasattr(self, "drill"):
            self._begin()
        return TitleBar(*self._titles())

    def body(self) -> Iterable[Widget]:
        yield Progress(*self._counts())
        sheet = Sheet(*self._front(), *self.uncovered(), id="sheet")
        sheet.asked = self.asked
        yield sheet
        bar = RatingBar(self.lang)
        yield Vertical(*self._above_ratings(), Behind(bar, covered=not self._is_to_rate), id="ratings")
        self._show_intervals(bar)

    def focus_first(self) -> None:
        super().focus_first()
        self.get_ready()

    def _front(self) -> list[Widget]:
        if self.asked is None:
            return [SessionEnd(self.drill, self.began_at, self.lang)]
        return list(front_parts(self.asked, self.lang))

    def _above_ratings(self) -> Iterable[Widget]:
        if self.fault:
            yield FaultLine(self.fault)
        if self._is_timed:
            settings = self.workspace.settings
            yield AnswerClock(self.workspace.clock, self.asked_at, self.lang, steady=settings.reduced_motion)

    @property
    def _is_to_rate(self) -> bool:
        return self.item is not None and self.asked is not None and self.asked.revealed

    def _show_intervals(self, bar: RatingBar) -> None:
        if self.item is not None and self.asked is not None:
            given = {rating: self.item.interval(rating) if self.drill.is_recorded else None for rating in Rating}
            bar.show(given, self.asked.suggestion)

    @property
    def _is_timed(self) -> bool:
        """Whether the answer is one that is said aloud, and the learner wants to see its half minute."""
        asked = self.asked
        is_open = asked is not None and not asked.revealed and not asked.is_marked_automatically
        return is_open and self.workspace.settings.answer_timer

    def _titles(self) -> tuple[str, str, str]:
        lang = self.lang
        if self.asked is None:
            return say("drill.title" if self.wish else "review.title", lang), say("done.title", lang), ""
        card = self.asked.card
        return f"{self._kind_of_drill()}{self.topic_title(card.topic)}", self.kind_and_level(card), card.id

    def _kind_of_drill(self) -> str:
        """In front of the topic: a chosen drill, and one that records nothing, are not the day's review."""
        if self.wish is None:
            return ""
        return f"{say('drill.cram' if self.wish.cram else 'drill.title', self.lang)} · "

    def _counts(self) -> tuple[int, int, Content]:
        state = None if self.item is None else self.item.state
        return *self.drill.done_of_all, waiting_counts(self.drill.progress, state, self.lang)

    async def _show(self) -> None:
        """Composes the sheet and the ratings from the state."""
        self.query_one(TitleBar).show(*self._titles())
        self.query_one(Progress).show(*self._counts())
        with self.app.batch_update():
            await self.show_asked(self._front(), self._show_ratings)

    async def _show_ratings(self) -> None:
        """The buttons stay where they are, covered while there is nothing to rate."""
        place = self.query_one("#ratings")
        buttons = place.query_one(Behind)
        with self.app.batch_update():
            await place.remove_children([child for child in place.children if child is not buttons])
            await mount_in(place, self._above_ratings(), before=0)
        self._show_intervals(buttons.query_one(RatingBar))
        buttons.cover(not self._is_to_rate)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        asked = self.asked
        revealed = asked is not None and asked.revealed
        if self.waiting is not None and action in ("rate", "accept", "undo", "suspend", "bury"):
            return False
        if action == "experiment":
            return asked is not None and revealed and bool(asked.card.experiment)
        if action == "reveal":
            return asked is not None and not revealed and not asked.is_marked_automatically
        if action == "submit":
            return asked is not None and not revealed and asked.is_marked_automatically
        if action in ("rate", "accept"):
            return revealed
        if action == "points":
            return revealed and asked is not None and bool(asked.card.points)
        if action in ("suspend", "bury"):
            return asked is not None
        return action != "undo" or self.drill.last_done is not None

    async def action_reveal(self) -> None:
        await self.action_submit()

    async def action_accept(self) -> None:
        """Enter takes the suggested rating."""
        if self.asked is not None:
            await self._rate(self.asked.suggestion)

    async def action_submit(self) -> None:
        if self.asked is None or self.asked.revealed:
            return
        if not self.hand_in(self.asked):
            return
        if self._brought_up_to_date():
            await self._show()
        else:
            await self._go_on_without()

    def _brought_up_to_date(self) -> bool:
        """Whether the card is still there; its buttons show what holds now, however long it has been on the screen."""
        before = self.item
        try:
            self.item = self.drill.refresh()
        except NotFound:
            return False
        if before is not None and before.basis.last_row != self.item.basis.last_row:
            self.fault = say("outdated.answered", self.lang)
        return True

    async def _go_on_without(self) -> None:
        card = self.asked.card.id if self.asked else ""
        self.drill.drop()
        self._take_next()
        self.notify(say("fault.gone", self.lang, card=card), severity="warning")
        await self._show()

    def action_experiment(self) -> None:
        if self.asked is not None:
            self.attn.open_experiment(self.asked.card.experiment)

    async def action_rate(self, rating: int) -> None:
        await self._rate(Rating(rating))

    async def on_rated(self, message: Rated) -> None:
        message.stop()
        await self._rate(message.rating)

    async def _rate(self, rating: Rating) -> None:
        asked = self.asked
        if asked is None or not asked.revealed or self.waiting is not None:
            return
        answer = partial(self.drill.rate, rating, points=asked.points, correct=asked.correct)
        await self._store(Change(answer, self._show_next))

    async def _show_next(self) -> None:
        self._take_next()
        await self._show()

    async def _store(self, change: Change) -> None:
        """Stores a change, or keeps the card and says why not; while another process writes it is tried again."""
        self.waiting = None
        try:
            change.store()
        except StoreBusy as error:
            if change.tries:
                self.waiting = replace(change, tries=change.tries - 1)
                self.set_timer(RETRY_SECONDS, self._try_again)
            await self._tell(say("fault.busy", self.lang) if self.waiting else fault_text(error, self.lang))
        except NotFound:
            await self._go_on_without()
        except AttnError as error:
            await self._tell(fault_text(error, self.lang))
        else:
            await change.then()

    async def _tell(self, fault: str) -> None:
        """The buttons and the line above them anew, unless they say it already."""
        if (fault, self.item) != (self.fault, self.drill.current):
            self.fault, self.item = fault, self.drill.current
            await self._show_ratings()

    async def _try_again(self) -> None:
        if self.waiting is not None:
            await self._store(self.waiting)

    async def action_undo(self) -> None:
        if self.drill.last_done is None:
            self.notify(say("review.nothing-to-undo", self.lang))
            return
        text = "review.undone" if self.drill.last_done is RowKind.REVIEW else "review.undone-hold"
        await self._store(Change(self.drill.undo, partial(self._show_undone, text)))

    async def _show_undone(self, text: str) -> None:
        if (item := self.drill.current) is not None:
            self._ask(item)
            self.notify(say(text, self.lang, card=item.card.id))
        await self._show()

    async def action_suspend(self) -> None:
        await self._put_away("review.suspended", self.drill.suspend)

    async def action_bury(self) -> None:
        await self._put_away("review.buried", self.drill.bury)

    async def _put_away(self, text: str, put: Callable[[], None]) -> None:
        if self.item is not None:
            await self._store(Change(put, partial(self._show_put_away, text, self.item.card.id)))

    async def _show_put_away(self, text: str, card: str) -> None:
        self.notify(say(text, self.lang, card=card))
        await self._show_next()

    def points_taken(self, asked: Asked) -> None:
        self.query_one(RatingBar).suggest(asked.suggestion)
