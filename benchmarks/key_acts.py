"""Random user actions at the keyboard: keys, pastes, clicks, resizes, leaving and coming back."""

from __future__ import annotations

import asyncio
import string
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from textual import events
from textual.geometry import Size
from textual.pilot import Pilot

from attncli.tui.app import AttnApp
from attncli.tui.screens.home import HomeScreen

TO_ENTER = ("MockScreen", "ChallengesScreen", "DrillScreen", "PlanScreen")
"""Screens where Enter opens more than the screen itself shows."""
NARROWEST, WIDEST = (40, 10), (200, 60)
SETTLING_SECONDS = 60.0
HASTE = 0.3

ROUTES = ("review", "review", "drill", "quiz", "mock", "mock", "challenges", "search", "stats", "plan", "settings")
CHALLENGES = ("sdpa", "layer-norm", "kv-cache")
LEAVING = ("ctrl+c", "ctrl+q")
MOVES = ("enter", "enter", "enter", "space", "space", "escape", "tab", "shift+tab", "up", "down", "left", "right")
MORE_MOVES = ("pageup", "pagedown", "home", "end", "backspace", "delete", "f1", "f2", "f5")
CONTROLS = tuple(f"ctrl+{letter}" for letter in string.ascii_lowercase if f"ctrl+{letter}" not in LEAVING)
FULL_WIDTH = tuple("？１２３ｑｒ／，　")
PASTED = (
    "def f(x):\n    return x\n",
    "softmax(QKᵀ/√d)V",
    "注意力 缓存",
    "[bold]not mark-up[/] $primary \\[",
    "tag:flag state:due is:x",
    "12,345.6e-7",
    "\x1b[31m\x00\r\n\ttab",
    "",
    "长" * 3000,
    "2026-12-24",
)


@dataclass(frozen=True, slots=True)
class Act:
    """`what` is key, paste, click, resize, open (start the app at a route or challenge) or hang-up (from outside).

    A hasty act is followed by the next one at once, as in type-ahead.
    """

    what: str
    how: str = ""
    is_hasty: bool = False

    def __str__(self) -> str:
        told = self.how if self.what == "key" else f"{self.what}({self.how[:40]!a})" if self.how else self.what
        return f"{told}~" if self.is_hasty else told


def draw(rng: Random, app: AttnApp | None) -> Act:
    """Return the next act, which opens the app if it is not running."""
    if app is None:
        return Act("open", rng.choice(("", "", *ROUTES, *CHALLENGES)))
    return replace(_drawn(rng, app), is_hasty=rng.random() < HASTE)


def _drawn(rng: Random, app: AttnApp) -> Act:
    if type(app.screen).__name__ in TO_ENTER and rng.random() < 0.3:
        return Act("key", "enter")
    sort = rng.choices(
        ("bound", "letter", "digit", "move", "control", "click", "paste", "resize", "leave"),
        (42, 9, 6, 27, 5, 6, 2, 2, 1),
    )[0]
    match sort:
        case "bound":
            return Act("key", _bound(rng, app))
        case "letter":
            return Act("key", rng.choice((*string.ascii_letters, *string.punctuation, *FULL_WIDTH)))
        case "digit":
            return Act("key", rng.choice(string.digits))
        case "move":
            return Act("key", rng.choice(MOVES if rng.random() < 0.8 else MORE_MOVES))
        case "control":
            return Act("key", rng.choice(CONTROLS))
        case "click":
            return Act("click", f"{rng.randrange(max(1, app.size.width))},{rng.randrange(max(1, app.size.height))}")
        case "paste":
            return Act("paste", rng.choice(PASTED))
        case "resize":
            sizes = (NARROWEST, (60, 18), (80, 24), (120, 40), WIDEST, _any_size(rng))
            return Act("resize", "{}x{}".format(*rng.choice(sizes)))
    return Act("hang-up") if rng.random() < 0.4 else Act("key", rng.choice(LEAVING))


def _bound(rng: Random, app: AttnApp) -> str:
    """Return a bound key. Help, the palette and, on Home, the quit key are chosen less often."""
    screen = app.screen
    bound = screen.active_bindings.items() if screen.is_mounted else ()
    actions = {found.binding.action: key for key, found in sorted(bound) if key not in LEAVING}
    seldom = ("help", "command_palette", "quit" if isinstance(screen, HomeScreen) else "help")
    if rng.random() < 0.9:
        actions = {action: key for action, key in actions.items() if action.rpartition(".")[2] not in seldom}
    return rng.choice(list(actions.values()) or ["escape"])


def _any_size(rng: Random) -> tuple[int, int]:
    return rng.randint(NARROWEST[0], WIDEST[0]), rng.randint(NARROWEST[1], WIDEST[1])


async def perform(act: Act, pilot: Pilot[Any]) -> None:
    """Send an act to the app as a terminal would, and wait until it is handled. Raises WaitForScreenTimeout."""
    app = pilot.app
    match act.what:
        case "key":
            app.post_message(key_event(app, act.how))
        case "paste":
            app.post_message(events.Paste(act.how))
        case "click":
            x, y = map(int, act.how.split(","))
            for kind in (events.MouseMove, events.MouseDown, events.MouseUp):
                app.post_message(kind(None, x, y, 0, 0, 1, False, False, False, x, y))
        case "resize":
            size = Size(*map(int, act.how.split("x")))
            app._driver._size = size  # type: ignore[union-attr]
            app.post_message(events.Resize(size, size))
        case "hang-up":
            app.exit(return_code=129)
    if act.is_hasty:
        await asyncio.sleep(0)
        return
    for _ in range(2):  # a key passes from widget to widget
        if app._exit:  # nobody would answer
            return
        await pilot._wait_for_screen(SETTLING_SECONDS)
        await asyncio.sleep(0)


def key_event(app: Any, key: str) -> events.Key:
    """Return the event that a terminal sends for this key."""
    from textual.keys import _character_to_key, _get_unicode_name_from_key

    name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
    event = events.Key(name, key if len(key) == 1 else _character(_get_unicode_name_from_key(name)))
    event.set_sender(app)
    return event


def _character(name: str) -> str | None:
    """Return the character that a key types: `slash` types a slash, `enter` nothing."""
    import unicodedata

    try:
        return unicodedata.lookup(name)
    except KeyError:
        return None
