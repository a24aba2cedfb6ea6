"""The four ratings, each with the interval it would give."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from attncli.domain.rating import Rating
from attncli.domain.text import Lang
from attncli.tui.widget_events import Rated
from attncli.tui.widgets.plain import Plain
from attncli.words.app_texts import say
from attncli.words.interval_texts import interval_text


class RatingButton(Plain):
    """`3 Good` over `10 min`; the suggested one says that Enter means it. None: the rating gives no interval."""

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
        """Draws nothing anew where both are as they were."""
        if (interval, suggested) != (self.interval, self.suggested):
            self.interval, self.suggested = interval, suggested
            self.set_class(suggested, "-suggested")
            self.refresh()

    def render(self) -> Content:
        name = f"{int(self.rating)} {say(f'rating.{self.rating.word}', self.lang)}"
        interval = "" if self.interval is None else interval_text(self.interval, self.lang)
        if self.suggested:
            return Content.assemble((f"» {name} «", "bold"), "\n", " · ".join(filter(None, [interval, "Enter"])))
        return Content.assemble(name, "\n", (interval, "$text-muted"))

    def on_click(self) -> None:
        self.post_message(Rated(self.rating))


class RatingBar(Horizontal):
    """Four buttons in a row."""

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
        """The interval that each rating would give, and the rating that Enter takes."""
        self.suggested = suggested
        for button in self._buttons:
            button.show(intervals[button.rating], button.rating is suggested)

    def suggest(self, rating: Rating) -> None:
        """Marks `rating` as the suggested one."""
        self.show({button.rating: button.interval for button in self._buttons}, rating)
