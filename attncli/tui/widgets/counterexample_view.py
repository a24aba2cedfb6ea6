"""The smallest input that shows what is wrong: the arguments, then expected beside got."""

from __future__ import annotations

from textual.content import Content

from attncli.domain.grade_report import Counterexample
from attncli.domain.text import Lang
from attncli.tui.widgets.lined import Lined
from attncli.words.app_texts import say
from attncli.words.counterexample_lines import Answers, counterexample_lines


class CounterexampleView(Lined):
    """Its lines under a title; what is longer than the screen is wide is wrapped."""

    DEFAULT_CSS = """
    CounterexampleView { height: auto; width: 1fr; margin: 0 0 1 0; }
    """

    def __init__(
        self,
        shown: Counterexample,
        lang: Lang,
        file: str = "",
        title: str = "counterexample.title",
        answers: Answers | None = None,
    ) -> None:
        super().__init__()
        self._shown, self._file, self._title, self._answers = shown, file, title, answers
        self.lang: Lang = lang

    def lines(self, width: int) -> list[Content]:
        lines = [Content.styled(say(self._title, self.lang), "bold $primary")]
        for style, line in counterexample_lines(self._shown, width - 2, self.lang, self._file, self._answers):
            text = Content.styled(line, "$text-muted" if style == "note" else "")
            parts = text.wrap(max(10, width - 2)) if style == "place" else [text]
            lines += [Content("  ") + part for part in parts]
        return lines
