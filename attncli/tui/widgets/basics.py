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
_RANKS = {
    "key.help": 0,
    **dict.fromkeys(("key.back", "key.home", "key.quit"), 2),
    "key.language": 3,
    "key.open": 4,
    **dict.fromkeys(("key.plan", "key.settings", "key.add-card"), 5),
}
_ALWAYS = ("key.help", "key.back", "key.save-and-back", "key.home", "key.quit")
_WHERE_ROOM = 4
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
    """Follows the bindings in force: as many as fit, closer together if they must be; help and the way back always.

    Where it is tight, what has a low rank goes first; then help is its key alone.
    """

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
        self._drawn: list[tuple[str, Binding]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        if self._named() != self._drawn:
            self.refresh()

    def render(self) -> Content:
        named = self._drawn = self._named()
        pieces = [self._piece(name, binding) for name, binding in named]
        gap = _WIDE_GAP if _cells(pieces, _WIDE_GAP) <= self.size.width else _NARROW_GAP
        while _cells(pieces, gap) > self.size.width and pieces and _rank(named[len(pieces) - 1]) >= _WHERE_ROOM:
            del pieces[-1]
        least = [binding.description in _ALWAYS for _, binding in named[: len(pieces)]]
        if _cells(pieces, gap) > self.size.width and named[0][1].description == "key.help":
            pieces[0] = self._piece(*named[0], text="")
        while _cells(pieces, gap) > self.size.width and not all(least):
            last = max(place for place, is_always in enumerate(least) if not is_always)
            del pieces[last], least[last]
        if pieces and named[0][1].description == "key.help":
            whole = [self._piece(*named[0]), *pieces[1:]]
            pieces = whole if _cells(whole, gap) <= self.size.width else pieces
        return Content(" ") + Content("").join(piece + " " * gap for piece in pieces)

    def _piece(self, name: str, binding: Binding, text: str | None = None) -> Content:
        said = say(binding.description, self.lang) if text is None else text
        press = f"@click=app.simulate_key('{binding.key}')"
        if not said:
            return Content.from_markup(f"[{press}][b $primary]$name[/][/]", name=name)
        return Content.from_markup(f"[b $primary]$name[/] [{press}]$text[/]", name=name, text=said)

    def _named(self) -> list[tuple[str, Binding]]:
        return sorted(shown_bindings(self.screen), key=_rank)


def _rank(named: tuple[str, Binding]) -> int:
    return _RANKS.get(named[1].description, 1)


def _cells(pieces: Sequence[Content], gap: int) -> int:
    return 1 + sum(piece.cell_length for piece in pieces) + gap * (len(pieces) - 1)
