"""The smallest input that shows what is wrong: the arguments, then expected beside got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from attncli.domain.text import Lang
from attncli.tui.strings import say
from attncli.tui.tensors import named_lines, value_lines


class Counterexample(Vertical):
    """Shows a report's `counterexample`: `args`, `expected`, `got`."""

    DEFAULT_CSS = """
    Counterexample { height: auto; width: 1fr; margin: 1 0; }
    Counterexample Static { width: auto; height: auto; }
    Counterexample Horizontal { height: auto; width: 1fr; overflow-x: auto; }
    Counterexample .heading { text-style: bold; color: $primary; }
    Counterexample .part { margin: 0 4 1 2; }
    """

    def __init__(self, counterexample: Mapping[str, Any], lang: Lang) -> None:
        super().__init__()
        self._shown = counterexample
        self.lang: Lang = lang

    def compose(self) -> ComposeResult:
        yield Static(say("counterexample.title", self.lang), classes="heading")
        arguments = self._shown.get("args") or {}
        if arguments:
            lines = [line for name, value in arguments.items() for line in named_lines(str(name), value)]
            yield self._part("counterexample.arguments", lines)
        expected, got = self._shown.get("expected"), self._shown.get("got")
        with Horizontal():
            if expected not in (None, {}):
                yield self._part("counterexample.expected", value_lines(expected))
            if got not in (None, {}):
                lines = value_lines(got, expected)
                legend = [say("counterexample.differs", self.lang)] if any("*" in line for line in lines) else []
                yield self._part("counterexample.got", [*lines, *legend])

    def _part(self, heading: str, lines: list[str]) -> Static:
        title = Content.styled(say(heading, self.lang), "$text-muted")
        return Static(Content("\n").join([title, *(Content(line) for line in lines)]), classes="part")
