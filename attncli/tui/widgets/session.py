"""Widgets around a card in a session: rating buttons, clocks, progress, and the summary at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from attncli.domain.log_row import ANSWER_SECONDS, Rating, State
from attncli.i18n import Lang, Localised, _, ngettext
from attncli.practice.mock import MockInterview
from attncli.practice.mock_report import clock_text
from attncli.practice.record import interval_text
from attncli.practice.review import RATINGS, ReviewSession
from attncli.practice.today import due_counts
from attncli.practice.workspace import Clock
from attncli.tui.formulas import inline
from attncli.tui.widgets.basics import Plain, Rated, bar


class RatingButton(Plain):
    """A rating over its interval: `3 Good` over `10 min`. The suggested one names Enter. Interval None shows none."""

    DEFAULT_CSS = """
    RatingButton { width: 1fr; height: 2; content-align: center middle; text-align: center; background: $surface; }
    RatingButton:hover { background: $panel; }
    RatingButton.-suggested { background: $primary 25%; text-style: bold; }
    """

    def __init__(self, rating: Rating, lang: Lang) -> None:
        super().__init__(classes=f"rating-{rating.word}")
        self.rating = rating
        self.interval: timedelta | None = None
        self.lang: Lang = lang
        self.suggested = False

    def show(self, interval: timedelta | None, suggested: bool) -> None:
        """Redraw if either has changed."""
        if (interval, suggested) != (self.interval, self.suggested):
            self.interval, self.suggested = interval, suggested
            self.set_class(suggested, "-suggested")
            self.refresh()

    def render(self) -> Content:
        name = f"{int(self.rating)} {RATINGS[self.rating][self.lang]}"
        interval = "" if self.interval is None else interval_text(self.interval, self.lang)
        if self.suggested:
            return Content.assemble((f"» {name} «", "bold"), "\n", " · ".join(filter(None, [interval, "Enter"])))
        return Content.assemble(name, "\n", (interval, "$text-muted"))

    def on_click(self) -> None:
        self.post_message(Rated(self.rating))


class RatingBar(Horizontal):
    """The four rating buttons."""

    DEFAULT_CSS = """
    RatingBar { height: 2; width: 1fr; }
    RatingBar > RatingButton { margin: 0 1 0 0; }
    RatingBar > .rating-easy { margin: 0; }
    """

    def __init__(self, lang: Lang) -> None:
        super().__init__()
        self._buttons = [RatingButton(rating, lang) for rating in Rating]
        self.suggested: Rating | None = None

    def compose(self) -> ComposeResult:
        yield from self._buttons

    def show(self, intervals: Mapping[Rating, timedelta | None], suggested: Rating) -> None:
        """Show the interval of each rating, and mark the rating that Enter gives."""
        self.suggested = suggested
        for button in self._buttons:
            button.show(intervals[button.rating], button.rating is suggested)

    def suggest(self, rating: Rating) -> None:
        """Mark `rating` as the suggested one."""
        self.show({button.rating: button.interval for button in self._buttons}, rating)


TICK_SECONDS = 1.0
STEADY_SECONDS = 10
"""With reduced motion the answer clock changes only this often, and has no bar."""


class Clockwork(Widget):
    """A widget that looks at the clock every second, and is redrawn only if what it shows has changed."""

    _shown: object = None

    def on_mount(self) -> None:
        self.set_interval(TICK_SECONDS, self.tick)

    def tick(self) -> None:
        """Redraw if what is shown has changed."""
        if (now := self.reading()) != self._shown:
            self._shown = now
            self.refresh()

    def reading(self) -> object:
        raise NotImplementedError


class AnswerClock(Clockwork):
    """A countdown, below the question, of the seconds for an answer said aloud; it interrupts nothing at the end."""

    DEFAULT_CSS = """
    AnswerClock { height: 1; width: 1fr; padding: 0 2; color: $text-muted; }
    """

    def __init__(self, clock: Clock, began_at: datetime, lang: Lang, *, steady: bool) -> None:
        super().__init__()
        self._clock, self._began_at, self._steady = clock, began_at, steady
        self._lang: Lang = lang

    def reading(self) -> int:
        """Return the seconds left."""
        spent = max(0, int((self._clock() - self._began_at).total_seconds()))
        left = max(0, ANSWER_SECONDS - spent)
        return -(-left // STEADY_SECONDS) * STEADY_SECONDS if self._steady else left

    def render(self) -> Content:
        left = self.reading()
        if not left:
            return Content(_("{seconds} seconds are up; finish your answer.", seconds=ANSWER_SECONDS)[self._lang])
        text = _("{seconds} s", seconds=left)[self._lang]
        if self._steady:
            return Content(text)
        width = max(1, self.size.width - Content(text).cell_length - 1)
        return Content.assemble(f"{text} ", bar(left / ANSWER_SECONDS, width, "$primary"))


class Progress(Widget):
    """The progress of a session in one line: `3/12`, a bar, and `beside` it the cards still waiting."""

    DEFAULT_CSS = """
    Progress { height: 1; width: 1fr; color: $primary; }
    """

    def __init__(self, done: int, total: int, beside: Content | None = None) -> None:
        super().__init__()
        self.show(done, total, beside)

    def show(self, done: int, total: int, beside: Content | None = None) -> None:
        self.done, self.total, self._beside = done, total, beside or Content("")
        self.refresh()

    def render(self) -> Content:
        label = f" {self.done}/{self.total} "
        share = self.done / self.total if self.total else 0.0
        waits = Content("  ") + self._beside if self._beside else self._beside
        room = max(1, self.size.width - len(label) - 1 - waits.cell_length)
        return Content.assemble((label, "bold"), bar(share, room, "$primary"), waits)


def waiting_counts(session: ReviewSession, lang: Lang) -> Content:
    """Return the cards waiting in a review, `9 new · 1 learning · 12 due`; the count for the current card's state is
    underlined. A learning card that is not due yet has the time until it is asked again.
    """
    progress, item = session.progress, session.current
    state = None if item is None else State.LEARNING if item.is_repeat else item.state
    learning = _("{count} learning", count=progress.learning)
    if progress.learning and (wait := session.next_step) is not None:
        interval = interval_text(wait, lang)
        learning = _("{count} learning, again in {interval}", count=progress.learning, interval=interval)
    counts: list[tuple[Localised, tuple[State, ...]]] = [
        (_("{count} new", count=progress.new), (State.NEW,)),
        (learning, (State.LEARNING, State.RELEARNING)),
        (_("{count} due", count=progress.review), (State.REVIEW,)),
    ]
    parts = [Content.styled(text[lang], "underline" if state in states else "") for text, states in counts]
    return Content(" · ").join(parts)


class SessionEnd(Plain):
    """The summary of a session: reviews, share recalled, minutes, cards still due, and cards to look at again."""

    DEFAULT_CSS = """
    SessionEnd { height: auto; width: 1fr; padding: 1 0; }
    """

    def __init__(self, session: ReviewSession, began_at: datetime, lang: Lang) -> None:
        self.session = session
        self.lang: Lang = lang
        super().__init__(Content("\n").join(self._lines(session.workspace.clock() - began_at)))

    def _lines(self, spent: timedelta) -> list[Content]:
        answers, lang = self.session.answers, self.lang
        if not answers:
            lines = [Content.styled(_("Nothing to review here right now.")[lang], "bold")]
        else:
            tests = [answer.rating is not Rating.AGAIN for answer in answers if answer.tests_memory]
            recalled = [_("{percent}% recalled", percent=round(100 * sum(tests) / len(tests)))[lang]] if tests else []
            reviews = ngettext("{count} review", "{count} reviews", len(answers))
            parts = [
                (reviews if self.session.is_recorded else _("{count} answered", count=len(answers)))[lang],
                *recalled,
                _("{minutes} min", minutes=max(1, round(spent.total_seconds() / 60)))[lang],
            ]
            lines = [Content.styled(_("Session done")[lang], "bold $success"), Content("  ·  ".join(parts))]
        if self.session.is_recorded:
            lines += self._waiting()
        else:
            lines.append(Content.styled(_("Cram: nothing was recorded.")[lang], "$text-muted"))
        lines += self._again()
        return [*lines, Content(""), Content.styled(_("Enter: back to Home")[lang], "$text-muted")]

    def _waiting(self) -> list[Content]:
        workspace = self.session.workspace
        due = due_counts(workspace)
        lines = [Content(_("{due} still due", due=due.due)[self.lang])] if due.due else []
        coming = {answer.card: answer.due_at for answer in self.session.answers if answer.due_at is not None}
        soonest = min(coming.values()) - workspace.clock() if coming else timedelta(0)
        if timedelta(0) < soonest < timedelta(hours=12):
            interval = interval_text(soonest, self.lang)
            lines.append(Content(_("The next card is due in {interval}.", interval=interval)[self.lang]))
        return lines

    def _again(self) -> list[Content]:
        failed = dict.fromkeys(answer.card for answer in self.session.answers if answer.rating is Rating.AGAIN)
        if not failed:
            return []
        library = self.session.workspace.library
        lines = [Content(""), Content.styled(_("Rated Again")[self.lang], "bold $primary")]
        for card in failed:
            lines.append(Content.assemble((f"{card}  ", "$text-muted"), inline(library.card(card).wording[self.lang])))
        return lines


WARNING_SECONDS = 60


class MockTimeLine(Clockwork):
    """The progress of a part of a mock interview and its time left; the only widget redrawn each second."""

    DEFAULT_CSS = """
    MockTimeLine { height: 1; width: 1fr; padding: 0 1; dock: top; margin: 1 0 0 0; }
    """

    def __init__(self, interview: MockInterview, lang: Lang) -> None:
        super().__init__()
        self._interview, self._lang = interview, lang
        self._was_up = interview.state.is_over or interview.time.is_up

    def reading(self) -> tuple[int, ...]:
        """Return the number of the question, of how many, and the seconds left."""
        return (*self._interview.number, self._interview.time.left_seconds)

    def tick(self) -> None:
        """Redraw if the line has changed, and notify once that the time is up."""
        if self._interview.state.is_over:
            return
        super().tick()
        if self._interview.time.is_up and not self._was_up:
            self._was_up = True
            self.notify(
                _("Time is up for this part. It ends after this question.")[self._lang],
                severity="warning",
                markup=False,
            )

    def render(self) -> Content:
        if self._interview.state.is_over:
            return Content("")
        (n, total), time = self._interview.number, self._interview.time
        label, time_text = f"{n}/{total} ", f" {self._time_text(time.is_up, time.left_seconds)}"
        share = min(1.0, time.spent_ms / time.budget_ms) if time.budget_ms else 1.0
        style = "bold $warning" if time.left_seconds <= WARNING_SECONDS else "bold"
        width = max(1, self.size.width - len(label) - Content(time_text).cell_length - 2)
        return Content.assemble((label, "bold"), bar(share, width, "$primary"), (time_text, style))

    def _time_text(self, is_up: bool, left_seconds: int) -> str:
        clock = clock_text(left_seconds)
        if is_up:
            return _("Time is up {clock}", clock=clock)[self._lang]
        return _("{time} left", time=clock)[self._lang]
