"""The review screen, and `AskingScreen`, the base of all screens on which a card is answered.

Each rating is on disk before the next card is shown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from attncli.domain.log_row import Rating, RowKind
from attncli.errors import AttnError, NotFound, UsageError
from attncli.i18n import N_, Localised, _
from attncli.practice.marking import Asked
from attncli.practice.queue import CardFilter
from attncli.practice.review import DrillSession, ReviewSession, SessionItem, again_text
from attncli.tui.screens.base import AttnScreen, error_text
from attncli.tui.widgets.answers import AnswerField, MarkedRows, RowsAnswer, TypedAnswer
from attncli.tui.widgets.basics import Answered, ErrorLine, PointsTicked, Rated, TitleBar, mount_anew, mount_in
from attncli.tui.widgets.card import Sheet, asked_parts
from attncli.tui.widgets.session import AnswerClock, Progress, RatingBar, SessionEnd, waiting_counts


class AskingScreen(AttnScreen):
    """A screen on which a card is answered. `asked` is the current one, if any, shown on the only `Sheet`."""

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

    def parts(self) -> Iterable[Widget]:
        """Return the parts of the sheet for the state of `asked`."""
        raise NotImplementedError

    async def show_parts(self) -> None:
        """Replace the parts of the sheet by those for the current state."""
        sheet = self.query_one(Sheet)
        await mount_anew(sheet, self.parts())
        if self.asked is None or not self.asked.revealed:
            sheet.scroll_home(animate=False)
        self.focus_first()
        self.refresh_bindings()

    def submit_answer(self, asked: Asked) -> bool:
        """Mark the answer; if it cannot be read, show the error and return False."""
        self.complete()
        try:
            asked.submit()
        except UsageError as error:
            self.attn.show_error(error)
            return False
        return True

    def is_blank(self, asked: Asked) -> bool:
        """Return True, and say so, at the first Enter without an answer; the second Enter submits none."""
        self.complete()
        if not asked.is_blank or self.warned is asked:
            return False
        self.warned = asked
        self.notify(_("No answer yet. Press Enter again to skip.")[self.lang])
        return True

    def complete(self) -> None:
        """Choose the option under the cursor, if one is wanted and none is chosen."""
        answer = self.query_one(Sheet).answer()
        if isinstance(answer, RowsAnswer):
            answer.complete()

    async def action_submit(self) -> None:
        """Submit the answer to `asked`."""
        raise NotImplementedError

    async def on_answered(self, message: Answered) -> None:
        message.stop()
        await self.action_submit()

    def on_points_ticked(self, message: PointsTicked) -> None:
        message.stop()
        points = self.query_one(Sheet).rows[-1:]
        if self.asked is not None and points:
            self.asked.ticked = set(getattr(points[0], "ticked", ()))
            self.on_points_changed(self.asked)

    def on_points_changed(self, asked: Asked) -> None:
        """Update the rating when points are ticked or unticked."""

    def action_points(self) -> None:
        """Tick the first point; the other letters arrive in `on_key`."""
        self.press_letter("a")

    def on_key(self, event: events.Key) -> None:
        if event.character and self.press_letter(event.character.lower()):
            event.stop()

    def press_letter(self, letter: str) -> bool:
        """Choose the row of this letter, or of this number before the answer is shown; False if there is none."""
        if letter.isdecimal() and self.asked is not None and not self.asked.revealed:
            letter = chr(ord("a") + int(letter) - 1)
        rows = [rows for sheet in self.query(Sheet) for rows in sheet.rows if not rows.closed]
        return bool(rows) and rows[-1].press(letter)


class ReviewScreen(AskingScreen):
    """A review of today's list, or of its cards of a `topic`; or a drill of a `card_filter`."""

    CSS_PATH = "review.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "reveal", N_("Show answer"), key_display="Space"),
        Binding("enter", "reveal", N_("Show answer"), show=False),
        Binding("enter", "submit", N_("Submit"), key_display="Enter"),
        Binding("enter", "accept", N_("Accept"), key_display="Enter"),
        Binding("enter", "back", N_("Home"), show=False),
        Binding("1", "rate(1)", N_("Rate"), key_display="1-4"),
        Binding("2", "rate(2)", N_("Rate"), show=False),
        Binding("3", "rate(3)", N_("Rate"), show=False),
        Binding("4", "rate(4)", N_("Rate"), show=False),
        Binding("a", "points", N_("Tick"), key_display="a-g"),
        Binding("r", "ask_again", N_("Ask again today")),
        Binding("asterisk", "flag", N_("Flag"), key_display="*"),
        Binding("n", "open_card('note')", N_("Note")),
        Binding("t", "open_card('tag')", N_("Tag")),
        Binding("x", "experiment", N_("Run the experiment")),
        Binding("i", "open_card", N_("Open the card")),
        Binding("u", "undo", N_("Undo")),
        Binding("ctrl+z", "undo", N_("Undo")),
        Binding("minus", "bury", N_("Bury"), key_display="-"),
        Binding("exclamation_mark", "suspend", N_("Suspend"), key_display="!"),
        Binding("escape,q", "back", N_("Home"), key_display="Esc"),
    ]

    def __init__(
        self, topic: str | None = None, limit: int | None = None, card_filter: CardFilter | None = None
    ) -> None:
        super().__init__()
        self.topic, self.limit, self.card_filter = topic, limit, card_filter
        self.asked: Asked | None = None
        self.item: SessionItem | None = None
        self.problem = ""

    def _take_next(self) -> None:
        self._ask(self.session.next())

    def _ask(self, item: SessionItem | None) -> None:
        self.item, self.problem, self.asked_at = item, "", self.workspace.clock()
        self.asked = Asked.of(item.card, self.attn.rng) if item else None

    def title_bar(self) -> TitleBar:
        if not hasattr(self, "session"):
            if self.card_filter is None:
                self.session = ReviewSession(self.workspace, self.topic, self.limit)
            else:
                self.session = DrillSession(self.workspace, self.card_filter, self.attn.rng)
            self.began_at = self.workspace.clock()
            self._take_next()
        return TitleBar(*self._titles())

    def body(self) -> Iterable[Widget]:
        yield Progress(*self._counts())
        yield Sheet(*self.parts(), id="sheet")
        bar = RatingBar(self.lang)
        bar.display = self._can_rate
        yield Vertical(*self._above_ratings(), bar, id="ratings")
        self._show_intervals(bar)

    def parts(self) -> Iterable[Widget]:
        if self.asked is None:
            return [SessionEnd(self.session, self.began_at, self.lang)]
        return asked_parts(self.asked, self.lang, self.question_of)

    def _above_ratings(self) -> Iterable[Widget]:
        if self.problem:
            yield ErrorLine(self.problem)
        if self._is_timed:
            settings = self.workspace.settings
            yield AnswerClock(self.workspace.clock, self.asked_at, self.lang, steady=settings.reduced_motion)

    @property
    def _can_rate(self) -> bool:
        return self.item is not None and self.asked is not None and self.asked.revealed

    def _show_intervals(self, bar: RatingBar) -> None:
        if self.item is not None and self.asked is not None:
            recorded = self.session.is_recorded
            bar.show(
                {rating: self.item.interval(rating) if recorded else None for rating in Rating}, self.asked.suggestion
            )

    @property
    def _is_timed(self) -> bool:
        """Return True while an answer is said aloud, if the learner has switched the answer timer on."""
        asked = self.asked
        is_open = asked is not None and not asked.revealed and not asked.is_marked_automatically
        return is_open and self.workspace.settings.answer_timer

    def _titles(self) -> tuple[str, str, str]:
        lang = self.lang
        if self.asked is None:
            return (_("Drill") if self.card_filter else _("Review"))[lang], _("Session done")[lang], ""
        card = self.asked.card
        title = self.topic_title(card.topic)
        if self.card_filter is not None:
            title = (_("Cram") if self.card_filter.cram else _("Drill"))[lang] + f" · {title}"
        repeated = _("asked again, not recorded")[lang]
        is_repeat = self.item is not None and self.item.is_repeat
        return title, repeated if is_repeat else self.kind_and_level(card), card.id

    def _counts(self) -> tuple[int, int, Content]:
        return *self.session.done_of_all, waiting_counts(self.session, self.lang)

    async def _show(self) -> None:
        """Update the whole screen from the state."""
        self.query_one(TitleBar).show(*self._titles())
        self.query_one(Progress).show(*self._counts())
        with self.app.batch_update():
            await self._show_ratings()
            await self.show_parts()

    async def _show_ratings(self) -> None:
        """Update the lines above the rating buttons, and hide the buttons while there is nothing to rate."""
        place = self.query_one("#ratings")
        buttons = place.query_one(RatingBar)
        with self.app.batch_update():
            await place.remove_children([child for child in place.children if child is not buttons])
            await mount_in(place, self._above_ratings(), before=0)
        self._show_intervals(buttons)
        buttons.display = self._can_rate
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        asked = self.asked
        revealed = asked is not None and asked.revealed
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
        if action in ("ask_again", "suspend", "bury", "flag", "open_card"):
            return asked is not None
        return action != "undo" or self.session.last_done is not None

    async def action_reveal(self) -> None:
        await self.action_submit()

    async def action_accept(self) -> None:
        """Give the suggested rating."""
        if self.asked is not None:
            await self._rate(self.asked.suggestion)

    async def action_submit(self) -> None:
        if self.asked is None or self.asked.revealed:
            return
        if not self.submit_answer(self.asked):
            return
        try:
            self.item = self.session.refresh()  # time and other processes change the intervals
        except NotFound:
            await self._drop_card()
        else:
            await self._show()

    async def _drop_card(self) -> None:
        card = self.asked.card.id if self.asked else ""
        self.session.drop()
        self._take_next()
        self.notify(_("{card} is no longer in its bank; skipped.", card=card)[self.lang], severity="warning")
        await self._show()

    def action_experiment(self) -> None:
        if self.asked is not None:
            self.attn.show("experiment", self.asked.card.experiment)

    def action_ask_again(self) -> None:
        """Switch on or off that the card is asked again at the end of the session; that answer is not recorded."""
        if (asked := self.asked) is not None:
            self.notify(again_text(asked.card.id, self.session.ask_again())[self.lang])
            self.query_one(Progress).show(*self._counts())

    def action_flag(self) -> None:
        if self.asked is not None:
            self.flag(self.asked.card.id)

    def action_open_card(self, write: str = "") -> None:
        """Open the card, its answer hidden until it is shown here, with the field for a note or a tag."""
        if self.asked is not None:
            self.attn.show("card", self.asked.card.id, question_first=not self.asked.revealed, write=write)

    async def action_rate(self, rating: int) -> None:
        await self._rate(Rating(rating))

    async def on_rated(self, message: Rated) -> None:
        message.stop()
        await self._rate(message.rating)

    async def _rate(self, rating: Rating) -> None:
        asked = self.asked
        if asked is None or not asked.revealed:
            return
        answer = partial(self.session.rate, rating, points=asked.points, correct=asked.correct)
        await self._store(answer, self._show_next)

    async def _show_next(self) -> None:
        self._take_next()
        await self._show()

    async def _store(self, change: Callable[[], object], then: Callable[[], Awaitable[None]]) -> None:
        """Store a change and update the screen, or keep the card and show the error."""
        try:
            change()
        except NotFound:
            await self._drop_card()
        except AttnError as error:
            await self._show_problem(error_text(error, self.lang))
        else:
            await then()

    async def _show_problem(self, problem: str) -> None:
        """Update the buttons and the line above them, if either has changed."""
        if (problem, self.item) != (self.problem, self.session.current):
            self.problem, self.item = problem, self.session.current
            await self._show_ratings()

    async def action_undo(self) -> None:
        if self.session.last_done is None:
            self.notify(_("There is nothing to undo.")[self.lang])
            return
        text = (
            _("Undone: rating of {card}")
            if self.session.last_done is RowKind.REVIEW
            else _("Undone: {card} is back in the queue")
        )
        await self._store(self.session.undo, partial(self._show_undone, text))

    async def _show_undone(self, text: Localised) -> None:
        if (item := self.session.current) is not None:
            self._ask(item)
            self.notify(text.format(card=item.card.id)[self.lang])
        await self._show()

    async def action_suspend(self) -> None:
        await self._put_away(_("{card} suspended"), self.session.suspend)

    async def action_bury(self) -> None:
        await self._put_away(_("{card} buried until tomorrow"), self.session.bury)

    async def _put_away(self, text: Localised, put: Callable[[], None]) -> None:
        if self.item is not None:
            await self._store(put, partial(self._show_put_away, text, self.item.card.id))

    async def _show_put_away(self, text: Localised, card: str) -> None:
        self.notify(text.format(card=card)[self.lang])
        await self._show_next()

    def on_points_changed(self, asked: Asked) -> None:
        self.query_one(RatingBar).suggest(asked.suggestion)
