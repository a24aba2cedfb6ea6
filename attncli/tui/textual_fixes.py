"""Changes to Textual: line wrapping, pasting, odd terminal input, and imports while nobody types.

Every `install_…` patches a private name once; if a later Rich or Textual lacks it, nothing is changed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from threading import Thread
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import rich._wrap
import textual._wrap
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.actions import ActionParseResult
from textual.app import App
from textual.color import Color
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.errors import NoWidget
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import OptionList

from attncli.domain.text import chunk_pattern, printable, word_pattern
from attncli.errors import AttnError
from attncli.tui.screens.base import AttnScreen, Navigation, fits
from attncli.tui.widgets.basics import KeyBar

# Patches


def install_wrapping() -> None:
    """Make Rich and Textual break lines beside CJK characters.

    Both wrap at white space only, so a run of Chinese would count as one word. Each finds words with one regular
    expression, which is replaced. Inline formulas rely on no-break spaces, which still join.
    """
    _replace(rich._wrap, "re_word", word_pattern())
    _replace(textual._wrap, "re_chunk", chunk_pattern())


def _replace(module: ModuleType, name: str, value: object) -> None:
    if hasattr(module, name):
        setattr(module, name, value)


def install_late_clicks() -> None:
    """Make Textual's lists ignore a click on a row that was removed after it was drawn; it would crash the app."""
    choose: Any = getattr(OptionList, "_on_click", None)
    if choose is None or hasattr(choose, "looks_first"):
        return

    async def click(self: OptionList, event: events.Click) -> None:
        row = event.style.meta.get("option")
        if row is None or row < self.option_count:
            await choose(self, event)

    click.looks_first = True  # type: ignore[attr-defined]
    OptionList._on_click = click  # type: ignore[method-assign]


LONGEST_SEQUENCE = 512
"""Characters of an escape sequence. Kitty's protocol sends the text of an input method as one, six a Chinese character;
Textual gives up after 32.
"""
ESCAPE, BEGIN, END = "\x1b", "\x1b[200~", "\x1b[201~"
KEY = "\x1b[2"
"""The shortest beginning of a paste mark that is held back; a shorter one may be a key that is complete."""
_CONTROL = "\x9b"
"""The control character equal to an escape with a bracket; no key starts with it."""


def as_text(pasted: str) -> str:
    """Return pasted text as it would have been typed: without hidden characters or no-break spaces."""
    return printable(pasted).replace("\xa0", " ")


class PastedEscapes:
    """Removes the escapes between the paste marks from the input of a terminal, piece by piece."""

    def __init__(self) -> None:
        self._is_inside = False
        self._held = ""

    def without(self, piece: str) -> str:
        """Return `piece` without pasted escapes, holding back the possible beginning of a mark.

        An escape alone is a key, and ends a paste.
        """
        if piece == ESCAPE and not self._held:
            self._is_inside = False
            return piece
        rest, self._held = self._held + piece, ""
        passed = []
        while rest:
            text, mark, rest = rest.partition(END if self._is_inside else BEGIN)
            if not mark:
                self._held = _partial_mark(END, 1, text) if self._is_inside else _partial_mark(BEGIN, len(KEY), text)
                text = text.removesuffix(self._held)
            if self._is_inside:
                text = text.replace(f"{ESCAPE}[", _CONTROL).replace(ESCAPE, "")
            passed += [text, mark]
            self._is_inside ^= bool(mark)
        return "".join(passed)


def _partial_mark(mark: str, least: int, text: str) -> str:
    """Return the beginning of `mark`, at least `least` characters long, with which `text` ends, or an empty string."""
    return next((mark[:length] for length in range(len(mark) - 1, least - 1, -1) if text.endswith(mark[:length])), "")


def install_pasting() -> None:
    """Keep Textual from reading keys in pasted text, where an escape would leave the screen, and in Chinese input."""
    module = import_module("textual._xterm_parser")
    _replace(module, "_MAX_SEQUENCE_SEARCH_THRESHOLD", LONGEST_SEQUENCE)
    parser: Any = getattr(module, "XTermParser", None)
    feed = getattr(parser, "feed", None)
    if feed is None or hasattr(feed, "reads_pastes"):
        return
    streams: WeakKeyDictionary[object, PastedEscapes] = WeakKeyDictionary()

    def read(self: object, data: str) -> Iterable[Any]:
        passed = streams.setdefault(self, PastedEscapes()).without(data)
        return feed(self, passed) if passed or not data else ()

    read.reads_pastes = True  # type: ignore[attr-defined]
    parser.feed = read


# Mixins of the app

_QUIT_KEYS = frozenset({"ctrl+c", "ctrl+q"})


class UnexpectedInput(Navigation):
    """Ignore clicks on removed widgets, and keys for a screen that is half composed or too small to be seen."""

    async def on_event(self, event: events.Event) -> None:
        if self._is_for_hidden_screen(event):
            return
        if isinstance(event, events.MouseEvent) and not event.is_forwarded and self._hits_removed_widget(event):
            return
        if isinstance(event, events.Paste):
            event.text = as_text(event.text)
        await super().on_event(event)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run the action of a key; show an AttnError in one line."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except AttnError as error:
            self.show_error(error)
            return True
        except NoMatches:
            if default_namespace is None or _is_composed(default_namespace):
                raise
            return True

    def _is_for_hidden_screen(self, event: events.Event) -> bool:
        """Return True for input while the terminal is too small, except for keys that quit the app."""
        if not isinstance(event, (events.InputEvent, events.Paste)) or event.is_forwarded or fits(self.size):
            return False
        return not (isinstance(event, events.Key) and event.key in _QUIT_KEYS)

    def _hits_removed_widget(self, event: events.MouseEvent) -> bool:
        try:
            widget, _ = self.screen.get_widget_at(event.x, event.y)
        except NoWidget:
            return False
        return not widget.is_attached


def _is_composed(node: DOMNode) -> bool:
    """Return True if the node is attached and, if it is a screen, fully composed."""
    if isinstance(node, AttnScreen):
        return node.is_attached and bool(node.query(KeyBar))
    return node.is_attached and (not isinstance(node, Screen) or bool(node.children))


QUIET_SECONDS = 1.0
AHEAD = (
    "attncli.tui.screens.review",
    "attncli.tui.widgets.markdown",
    "attncli.tui.widgets.card",
    "attncli.tui.widgets.answers",
    "attncli.tui.screens.cards",
    "attncli.tui.screens.challenges",
    "attncli.tui.screens.stats",
)


class ReadAhead(App[None]):
    """Import the modules of the next screens in the first quiet second, which saves some 100 ms in the first review."""

    reads_ahead = False

    def on_mount(self) -> None:
        if self.reads_ahead:
            self.set_timer(QUIET_SECONDS, Thread(target=read_ahead, daemon=True).start)


def read_ahead() -> None:
    """Import the modules that the next keys need."""
    for name in AHEAD:
        import_module(name)


# Characters from and to the terminal

_KEY_NAMES = {"!": "exclamation_mark", "?": "question_mark", "/": "slash", "-": "minus", ",": "comma", " ": "space"}
_OTHER_TWINS = {"、": "slash"}


def ascii_twin(character: str | None) -> str:
    """Return the name of the ASCII key of a full-width character, as Chinese input methods send it, or an empty string.

    `１` is `1`, `？` is `question_mark` and `、` is `slash`.
    """
    if not character or len(character) != 1 or character.isascii():
        return ""
    if character in _OTHER_TWINS:
        return _OTHER_TWINS[character]
    twin = unicodedata.normalize("NFKC", character)
    if len(twin) != 1 or not twin.isascii():
        return ""
    return _KEY_NAMES.get(twin, twin) if twin in _KEY_NAMES or twin.isalnum() else ""


class ShownText(LineFilter):
    """Removes control and hidden characters from every line drawn; a line keeps its width."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [_shown(segment) for segment in segments]


def _shown(segment: Segment) -> Segment:
    text = printable(segment.text)
    if text == segment.text:
        return segment
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)


DRIVERS = ("textual.drivers.linux_driver", "textual.drivers.web_driver")
_OLD_MOUSE = re.compile(rb"\x1b\[M[\x20-\xff]{3}")


class ForgivingDecoder:
    """An incremental decoder that shows undecodable bytes (a Latin-1 é, Alt with an eighth bit) as `�`.

    It drops mouse reports in the oldest encoding: their coordinates are any three bytes, which Textual would read as
    keys after an Escape.
    """

    def __init__(self, decoder: Any) -> None:
        self._decode = decoder(errors="replace").decode

    def decode(self, data: bytes, final: bool = False) -> str:
        return str(self._decode(_OLD_MOUSE.sub(b"", data), final))


def install_undecodable() -> None:
    """Make Textual's drivers decode input with `ForgivingDecoder`."""
    for name in DRIVERS:
        driver: Any = import_module(name)
        lookup = getattr(driver, "getincrementaldecoder", None)
        if lookup is not None and not isinstance(lookup, partial):
            driver.getincrementaldecoder = partial(_forgiving, lookup)


def _forgiving(lookup: Any, encoding: str) -> Any:
    return partial(ForgivingDecoder, lookup(encoding))
