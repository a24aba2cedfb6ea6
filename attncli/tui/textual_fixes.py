"""Python's search for objects that hold on to nothing but each other: tens of milliseconds, spent while nobody types.

Left to itself it comes after so many new objects, so amid the drawing that a key asks for. What is there when the app
opens (modules, for the most part) is not searched again, and the rest is searched once the keys have rested. In the
first quiet second the modules of the next screens are read as well, beside the loop: some 100 ms for the first review.
"""

from __future__ import annotations

import gc
import re
import unicodedata
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
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

from attncli.domain.text import CHUNK, WORD, printable
from attncli.errors import AttnError
from attncli.tui.screens.base import AttnScreen, fits
from attncli.tui.widgets.basics import KeyBar

# Chinese wraps to the edge of the line, in every Textual widget.
#
# Rich and Textual wrap at white space only, so a run of Chinese counts as one word and leaves ragged lines. Both find
# words with one regular expression each (private names: `rich._wrap.re_word`, `textual._wrap.re_chunk`), which
# `install` replaces by one of `domain.line_breaks`. Inline formulas rely on a no-break space that joins. Where a later
# Rich or Textual has no such name, nothing is changed.


def install_wrapping() -> None:
    """Makes Rich and Textual break lines beside CJK characters; does nothing to a library that has moved on."""
    _replace(rich._wrap, "re_word", WORD)
    _replace(textual._wrap, "re_chunk", CHUNK)


def _replace(module: ModuleType, name: str, pattern: re.Pattern[str]) -> None:
    if hasattr(module, name):
        setattr(module, name, pattern)


# A click on a row that was taken away after it was drawn chooses nothing, in whatever list: the palette's too.


def install_late_clicks() -> None:
    """Makes Textual's lists look whether the row is still there; they would end the app."""
    choose: Any = getattr(OptionList, "_on_click", None)
    if choose is None or hasattr(choose, "looks_first"):
        return

    async def click(self: OptionList, event: events.Click) -> None:
        row = event.style.meta.get("option")
        if row is None or row < self.option_count:
            await choose(self, event)

    click.looks_first = True  # type: ignore[attr-defined]
    OptionList._on_click = click  # type: ignore[method-assign]


# What is pasted is text: nothing in it is a key, and nothing in it is hidden.
#
# Terminals put marks around what is pasted. Textual looks for keys between them too (a private name:
# `textual._xterm_parser.XTermParser`), so an escape in a pasted log leaves the screen, and the signs behind it are
# pressed one by one. `install` takes the escapes out before they are read; where a later Textual has no such name,
# nothing is changed. Signs that nobody sees, as copied from a web page, would be an error that nobody finds.

ESCAPE, BEGIN, END = "\x1b", "\x1b[200~", "\x1b[201~"
KEY = "\x1b[2"
"""What begins like this goes on: no key is waited for that is there already."""
_CONTROL = "\x9b"
"""The same as an escape with a bracket, in one sign, by which no key begins."""


def as_text(pasted: str) -> str:
    """What is pasted as it would have been typed: without hidden signs, blanks that join as blanks."""
    return printable(pasted).replace("\xa0", " ")


class PastedEscapes:
    """What a terminal sends, piece by piece, without the escapes between the marks of a paste."""

    def __init__(self) -> None:
        self._is_inside = False
        self._held = ""

    def without(self, piece: str) -> str:
        """Holds back what may be the beginning of the mark. An escape alone is a key; no paste goes on behind it."""
        if piece == ESCAPE and not self._held:
            self._is_inside = False
            return piece
        left, self._held = self._held + piece, ""
        passed = []
        while left:
            text, mark, left = left.partition(END if self._is_inside else BEGIN)
            if not mark:
                self._held = _begun(END, 1, text) if self._is_inside else _begun(BEGIN, len(KEY), text)
                text = text.removesuffix(self._held)
            passed += [_without_escapes(text) if self._is_inside else text, mark]
            self._is_inside ^= bool(mark)
        return "".join(passed)


def _without_escapes(text: str) -> str:
    return text.replace(f"{ESCAPE}[", _CONTROL).replace(ESCAPE, "")


def _begun(mark: str, least: int, text: str) -> str:
    """The beginning of `mark` with which `text` ends, of `least` signs or more."""
    return next((mark[:length] for length in range(len(mark) - 1, least - 1, -1) if text.endswith(mark[:length])), "")


def install_pasting() -> None:
    """Makes Textual read no key in what is pasted."""
    parser: Any = getattr(import_module("textual._xterm_parser"), "XTermParser", None)
    feed = getattr(parser, "feed", None)
    if feed is None or hasattr(feed, "reads_pastes"):
        return
    streams: WeakKeyDictionary[object, PastedEscapes] = WeakKeyDictionary()

    def read(self: object, data: str) -> Iterable[Any]:
        passed = streams.setdefault(self, PastedEscapes()).without(data)
        return feed(self, passed) if passed or not data else ()

    read.reads_pastes = True  # type: ignore[attr-defined]
    parser.feed = read


# What a terminal may send at any moment, and Textual does not expect: it ends nothing.

_ENDING = frozenset({"ctrl+c", "ctrl+q"})


class UnexpectedInput(App[None]):
    """A click that meets what was just taken off the screen is nobody's, nor is a key for a screen half composed."""

    async def on_event(self, event: events.Event) -> None:
        if self._is_covered(event):
            return
        if isinstance(event, events.MouseEvent) and not event.is_forwarded and self._meets_nothing(event):
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
        """What a key asks for; an error of the program is told."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except AttnError as error:
            self.tell(error)
            return True
        except NoMatches:
            if default_namespace is None or _is_whole(default_namespace):
                raise
            return True

    def _is_covered(self, event: events.Event) -> bool:
        """Whether it is for a screen that nobody sees, since the terminal is too small; the app can be left there."""
        if not isinstance(event, (events.InputEvent, events.Paste)) or event.is_forwarded or fits(self.size):
            return False
        return not (isinstance(event, events.Key) and event.key in _ENDING)

    @abstractmethod
    def tell(self, error: AttnError) -> None: ...

    def _meets_nothing(self, event: events.MouseEvent) -> bool:
        try:
            widget, _ = self.screen.get_widget_at(event.x, event.y)
        except NoWidget:
            return False
        return not widget.is_attached


def _is_whole(node: DOMNode) -> bool:
    """Whether it is on a screen, and if it is one, is composed to its end."""
    if isinstance(node, AttnScreen):
        return node.is_attached and bool(node.query(KeyBar))
    return node.is_attached and (not isinstance(node, Screen) or bool(node.children))


QUIET_SECONDS = 1.0
AHEAD = (
    "attncli.tui.screens.review",
    "attncli.tui.widgets.markdown",
    "attncli.tui.widgets.card",
    "attncli.tui.widgets.card",
    "attncli.tui.widgets.card",
    "attncli.tui.widgets.answers",
    "attncli.tui.screens.cards",
    "attncli.tui.screens.cards",
    "attncli.tui.screens.challenges",
    "attncli.tui.screens.stats",
)
SELDOM = 1000
"""Where the keys never rest, the whole is searched after so many searches of what is new; Python's own is 10."""


class CollectWhenIdle(App[None]):
    """Within `keys_first` it searches in the quiet between two keys."""

    puts_keys_first = False
    has_read_ahead = False
    _was_touched = False
    _is_due = False

    @contextmanager
    def keys_first(self) -> Iterator[None]:
        """For as long as the app runs, Python's own search of the whole is put off. It is the process that is set."""
        thresholds = gc.get_threshold()
        gc.set_threshold(*thresholds[:2], SELDOM)
        self.puts_keys_first = True
        try:
            yield
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()

    def on_mount(self) -> None:
        if self.puts_keys_first:
            self.call_after_refresh(gc.freeze)
            self.set_interval(QUIET_SECONDS, self.search_when_quiet)

    async def on_event(self, event: events.Event) -> None:
        self._was_touched = self._was_touched or isinstance(event, events.InputEvent)
        await super().on_event(event)

    def search_when_quiet(self) -> None:
        """Called again and again: searches once no key came since the last call, and once after each run of keys."""
        if self.puts_keys_first and not self.has_read_ahead:
            self.has_read_ahead = True
            Thread(target=read_ahead, daemon=True).start()
        if self._was_touched:
            self._was_touched, self._is_due = False, True
        elif self._is_due:
            self._is_due = False
            _forget_what_was_drawn()
            gc.collect()


def read_ahead() -> None:
    """Imports what the next keys need; what came with it is not searched."""
    for name in AHEAD:
        import_module(name)
    gc.freeze()


def _forget_what_was_drawn() -> None:
    """Textual's cache of backgrounds keeps the drawn lines of a thousand widgets that are gone (a private name)."""
    with suppress(ImportError, AttributeError):
        import_module("textual._styles_cache").StylesCache.get_inner_outer.cache_clear()


# Full-width keys: with a Chinese input method on, `1` arrives as `１`, `?` as `？` and `/` as `、`.

_NAMES = {"!": "exclamation_mark", "?": "question_mark", "/": "slash", "-": "minus", ",": "comma", " ": "space"}
_OTHER_TWINS = {"、": "slash"}


def ascii_twin(character: str | None) -> str:
    """The name of the ASCII key that a full-width character stands for; empty for any other character."""
    if not character or len(character) != 1 or character.isascii():
        return ""
    if character in _OTHER_TWINS:
        return _OTHER_TWINS[character]
    twin = unicodedata.normalize("NFKC", character)
    if len(twin) != 1 or not twin.isascii():
        return ""
    return _NAMES.get(twin, twin) if twin in _NAMES or twin.isalnum() else ""


# What the app writes to the terminal: every line of every widget passes here last.


class ShownText(LineFilter):
    """Takes out what would steer the terminal or hide; a line stays as wide as it was laid out."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [_shown(segment) for segment in segments]


def _shown(segment: Segment) -> Segment:
    text = printable(segment.text)
    if text == segment.text:
        return segment
    return Segment(set_cell_size(text, cell_len(segment.text)), segment.style, segment.control)


# Bytes of a terminal that are no text end nothing and press no key.
#
# What is no UTF-8 (a Latin-1 é, Alt with an eighth bit) is shown as `�`. The mouse of a terminal that knows only the
# oldest codes is dropped: its coordinates are any three bytes, and Textual would read an Escape before them.

DRIVERS = ("textual.drivers.linux_driver", "textual.drivers.web_driver")
_OLD_MOUSE = re.compile(rb"\x1b\[M[\x20-\xff]{3}")


class ForgivingDecoder:
    """An incremental decoder, of the kind `decoder` makes, that raises nothing."""

    def __init__(self, decoder: Any) -> None:
        self._decode = decoder(errors="replace").decode

    def decode(self, data: bytes, final: bool = False) -> str:
        return str(self._decode(_OLD_MOUSE.sub(b"", data), final))


def install_undecodable() -> None:
    """Make Textual's drivers read so (a private name); in a later Textual without it, nothing is changed."""
    for name in DRIVERS:
        driver: Any = import_module(name)
        lookup = getattr(driver, "getincrementaldecoder", None)
        if lookup is not None and not isinstance(lookup, partial):
            driver.getincrementaldecoder = partial(_forgiving, lookup)


def _forgiving(lookup: Any, encoding: str) -> Any:
    return partial(ForgivingDecoder, lookup(encoding))
