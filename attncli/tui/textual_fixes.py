"""Python's search for objects that hold on to nothing but each other: tens of milliseconds, spent while nobody types.

Left to itself it comes after so many new objects, so amid the drawing that a key asks for. What is there when the app
opens (modules, for the most part) is not searched again, and the rest is searched once the keys have rested. In the
first quiet second the modules of the next screens are read as well, beside the loop: some 100 ms for the first review.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from threading import Thread

from textual import events
from textual.app import App

QUIET_SECONDS = 1.0
AHEAD = (
    "attncli.tui.screens.review",
    "attncli.tui.widgets.markdown",
    "attncli.tui.widgets.follow_ups",
    "attncli.tui.widgets.verdict",
    "attncli.tui.widgets.point_list",
    "attncli.tui.widgets.debug_code",
    "attncli.tui.screens.search",
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
