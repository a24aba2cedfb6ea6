"""Help: the keys of the screen below, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, Screen

from attncli.domain.text import Lang
from attncli.tui.columns import left
from attncli.tui.widgets.basics import key_name
from attncli.tui.widgets.plain import Plain
from attncli.words.app_texts import TEXTS, say


class HelpScreen(ModalScreen[None]):
    """Escape, q or ? closes it."""

    CSS_PATH = Path(__file__).with_name("help.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,fullwidth_question_mark,enter,f1", "dismiss", "help.close", show=False)
    ]

    def __init__(self, below: Screen[Any], lang: Lang) -> None:
        super().__init__()
        self.below, self.lang = below, lang
        self._keys = self._found_keys()

    def compose(self) -> ComposeResult:
        lang = self.lang
        lines = [Content.assemble((left(key, 16), "bold $primary"), text) for key, text in self._keys]
        note = Content.styled(say("help.ime", lang), "$text-muted")
        with VerticalScroll():
            yield Plain(Content.styled(say("help.title", lang), "bold"), classes="title")
            yield Plain(Content("\n").join(lines))
            yield Plain(note, classes="note")
            yield Plain(Content.styled(say("help.close", lang), "$text-muted"))

    def _found_keys(self) -> list[tuple[str, str]]:
        """What the key bar names comes first."""
        found: dict[str, list[str]] = {}
        for active in sorted(self.below.active_bindings.values(), key=lambda active: not active.binding.show):
            binding = active.binding
            if binding.description in TEXTS and active.enabled:
                names = found.setdefault(say(binding.description, self.lang), [])
                names += [name for name in key_name(binding).split() if name not in names]
        return [(_joined(names), text) for text, names in found.items()]


def _joined(names: list[str]) -> str:
    """`1-4` stands for the four of them."""
    return next((name for name in names if "-" in name and len(name) > 1), " ".join(names[:3]))
