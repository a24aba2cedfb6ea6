"""The smallest input that shows what is wrong: the arguments, then expected beside got."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from attncli.domain.axes import first_wrong
from attncli.domain.calls import earlier_calls
from attncli.domain.digits import digits_apart
from attncli.domain.text import Lang
from attncli.tui.tensors import DIGITS, named_lines, side_by_side, value_lines
from attncli.words.app_texts import say
from attncli.words.frames import frame_lines


class Counterexample(Widget):
    """Shows a report's `counterexample`: `args`, `expected`, `got`."""

    DEFAULT_CSS = """
    Counterexample { height: auto; width: 1fr; margin: 0 0 1 0; }
    """

    def __init__(self, counterexample: Mapping[str, Any], lang: Lang, file: str = "") -> None:
        super().__init__()
        self._file = file
        self._shown = counterexample
        self.lang: Lang = lang

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def _lines(self, width: int) -> list[Content]:
        arguments = [named_lines(str(name), value) for name, value in (self._shown.get("args") or {}).items()]
        lines = [Content.styled(say("counterexample.title", self.lang), "bold $primary")]
        if arguments:
            lines.append(Content.styled(say("counterexample.arguments", self.lang), "$text-muted"))
            lines += [Content(f"  {line}") for line in side_by_side(arguments, width - 2)]
        lines += [Content.styled(f"  {line}", "$text-muted") for line in self._where()]
        for number, call in earlier_calls(self._shown):
            heading = say("counterexample.earlier", self.lang, number=number, name=call["call"])
            given = [named_lines(str(name), value) for name, value in call["args"].items()]
            lines.append(Content.styled(f"  {heading}", "$text-muted"))
            lines += [Content(f"    {line}") for line in side_by_side(given, width - 4)]
        if outcomes := self._outcomes():
            lines += [Content(""), *(Content(f"  {line}") for line in side_by_side(outcomes, width - 2))]
        return [*lines, *self._places(width)]

    def _where(self) -> Iterator[str]:
        """Which of several calls it is."""
        if "call" in self._shown:
            calls = ", ".join(str(call["call"]) for call in self._shown.get("calls") or ())
            yield say("counterexample.call", self.lang, number=self._shown["call"], calls=calls)

    def _places(self, width: int) -> Iterator[Content]:
        """The first wrong entry, and the learner's own lines of an exception."""
        if self._shown.get("first_wrong_index"):
            index = say("counterexample.first-wrong", self.lang, index=first_wrong(self._shown))
            yield Content(f"  {index}")
        for text in frame_lines(self._shown.get("frames") or (), self._file, self.lang):
            yield from (Content("  ") + part for part in Content(text).wrap(max(10, width - 2)))

    def _outcomes(self) -> list[list[str]]:
        expected, got = self._shown.get("expected"), self._shown.get("got")
        blocks, digits = [], digits_apart(self._shown, DIGITS)
        if expected not in (None, {}):
            blocks.append([say("counterexample.expected", self.lang), *value_lines(expected, None, digits)])
        if got not in (None, {}):
            lines = value_lines(got, expected, digits)
            legend = [say("counterexample.differs", self.lang)] if any("*" in line for line in lines) else []
            blocks.append([say("counterexample.got", self.lang), *lines, *legend])
        return blocks
