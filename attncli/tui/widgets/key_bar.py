"""The bottom line: the keys that do something here, in the learner's language; clicking one presses it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from attncli.domain.text import Lang
from attncli.words.app_texts import TEXTS, say

_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "exclamation_mark": "!",
    "escape": "Esc",
    "enter": "Enter",
    "minus": "-",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "space": "Space",
    "f1": "F1",
}
_RANKS = {"key.help": 0, "key.back": 2, "key.home": 2, "key.quit": 2, "key.language": 3, "key.open": 4}
_ALWAYS = ("key.help", "key.back", "key.home", "key.quit")
_WIDE_GAP, _NARROW_GAP = 2, 1


def shown_bindings(screen: Screen[object]) -> list[tuple[str, Binding]]:
    """The bindings in force that a key bar names, nearest first, each action and each name of a key once.

    Their descriptions are text keys. A second name of a key (q is written Esc) is left out where the first does
    something else, as in a field.
    """
    found: dict[str, tuple[str, Binding]] = {}
    for active in screen.active_bindings.values():
        binding, name = active.binding, key_name(active.binding)
        if not (binding.show and active.enabled and binding.description in TEXTS):
            continue
        if name not in {named for named, _ in found.values()}:
            found.setdefault(binding.action, (name, binding))
    return list(found.values())


def key_name(binding: Binding) -> str:
    """How a key is written: `Enter`, `/`, `Shift+↑`; F1 is not `?`, which a field takes as a character."""
    if binding.key_display and binding.key != "f1":
        return binding.key_display
    *modifiers, key = binding.key.split("+")
    return "+".join([*(modifier.title() for modifier in modifiers), _NAMES.get(key, key.upper() if modifiers else key)])


class KeyBar(Widget):
    """Follows the bindings in force: as many as fit, closer together if they must be; help and the way back always."""

    DEFAULT_CSS = """
    KeyBar {
        dock: bottom; height: 1; width: 1fr; background: $panel; color: $foreground;
        link-style: none; link-color: $foreground; link-background: $panel;
        link-style-hover: bold; link-color-hover: $foreground; link-background-hover: $primary 30%;
    }
    """

    def __init__(self, lang: Lang) -> None:
        super().__init__()
        self.lang: Lang = lang

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        self.refresh()

    def render(self) -> Content:
        named = self._named()
        pieces = [self._piece(name, binding) for name, binding in named]
        gap = _WIDE_GAP if _cells(pieces, _WIDE_GAP) <= self.size.width else _NARROW_GAP
        least = [binding.description in _ALWAYS for _, binding in named]
        while _cells(pieces, gap) > self.size.width and not all(least):
            last = max(place for place, is_always in enumerate(least) if not is_always)
            del pieces[last], least[last]
        return Content(" ") + Content("").join(piece + " " * gap for piece in pieces)

    def _piece(self, name: str, binding: Binding) -> Content:
        return Content.from_markup(
            f"[b $primary]$name[/] [@click=app.simulate_key('{binding.key}')]$text[/]",
            name=name,
            text=say(binding.description, self.lang),
        )

    def _named(self) -> list[tuple[str, Binding]]:
        return sorted(shown_bindings(self.screen), key=lambda item: _RANKS.get(item[1].description, 1))


def _cells(pieces: Sequence[Content], gap: int) -> int:
    return 1 + sum(piece.cell_length for piece in pieces) + gap * (len(pieces) - 1)
