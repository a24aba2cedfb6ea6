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
from attncli.words.intervals import interval_text


class RatingButton(Plain):
    """`3 Good` over `10 min`; the suggested one says that Enter means it. None: the rating gives no interval."""

    DEFAULT_CSS = """
    RatingButton { width: 1fr; height: 2; content-align: center middle; text-align: center; background: $surface; }
    RatingButton:hover { background: $panel; }
    RatingButton.-suggested { background: $primary 25%; text-style: bold; }
    """

    def __init__(self, rating: Rating, interval: timedelta | None, lang: Lang, suggested: bool) -> None:
        super().__init__(classes=f"rating-{rating.word}{' -suggested' * suggested}")
        self.rating = rating
        self.interval = interval
        self.lang: Lang = lang
        self.suggested = suggested

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

    def __init__(self, intervals: Mapping[Rating, timedelta | None], suggested: Rating, lang: Lang) -> None:
        super().__init__()
        self._buttons = [RatingButton(rating, intervals[rating], lang, rating is suggested) for rating in Rating]
        self.suggested = suggested

    def compose(self) -> ComposeResult:
        yield from self._buttons

    def suggest(self, rating: Rating) -> None:
        """Marks `rating` as the suggested one."""
        self.suggested = rating
        for button in self._buttons:
            if button.suggested is not (button.rating is rating):
                button.suggested = button.rating is rating
                button.set_class(button.suggested, "-suggested")
                button.refresh()
