"""The app: its first screen, leaving, notices, language and theme, and the command palette (Ctrl-P).

`run` is called by the command line. `AttnApp` is put together from mixins, each with one of these subjects. Clock and
randomness are arguments.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.filter import LineFilter
from textual.screen import Screen

from attncli import config
from attncli.config import Settings
from attncli.domain.text import printable
from attncli.errors import INTERRUPTED, EnvironmentFailure
from attncli.i18n import N_, Lang, Localised, _, ngettext
from attncli.paths import Home
from attncli.practice.queue import CardFilter, require_matching_cards
from attncli.practice.workspace import Clock, Workspace, is_first_run
from attncli.tui import textual_fixes
from attncli.tui.screens.base import BUSY_MILLISECONDS, IN_PALETTE, AttnScreen, Navigation
from attncli.tui.textual_fixes import ReadAhead, ShownText, UnexpectedInput, ascii_twin
from attncli.tui.theme import DARK, LIGHT, THEMES, theme_named
from attncli.tui.widgets.basics import shown_bindings

if TYPE_CHECKING:
    from attncli.practice.mock import MockOptions
    from attncli.practice.quiz import QuizOptions


# Leaving

HUNG_UP = 129
READ_AHEAD_SECONDS = 1.0
"""Longest wait for keys typed just before the app was left."""


class Exits(Navigation):
    """Leave the app after saving typed text, whether by key, signal, closed terminal or closed page.

    A screen with typed text sets `save_text`, which returns True once the text is on disk.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._handlers: dict[int, Any] = {}

    async def action_interrupt(self) -> None:
        """Leave on Ctrl-C, with the exit code of an interrupted command."""
        await self._read_ahead()
        if self._saves_text():
            self.exit(return_code=INTERRUPTED)

    async def action_quit(self) -> None:
        await self._read_ahead()
        if self._saves_text():
            self.exit()

    def handle_signals(self) -> None:
        """Leave on SIGHUP (a closed window) and SIGTERM (shutdown); either would end Python and lose typed text."""
        loop = asyncio.get_running_loop()
        for name in ("SIGHUP", "SIGTERM"):
            if (number := getattr(signal, name, None)) is not None:
                with suppress(ValueError):  # not in the main thread
                    handler = signal.signal(
                        number, lambda sent, _frame: loop.call_soon_threadsafe(self._leave_at, sent)
                    )
                    self._handlers.setdefault(number, handler)

    def on_unmount(self) -> None:
        """Restore the signal handlers, so that a second signal ends the process at once."""
        while self._handlers:
            signal.signal(*self._handlers.popitem())

    def _leave_at(self, number: int) -> None:
        self.exit(return_code=128 + number)

    def leave_if_hung_up(self, terminal: int) -> None:
        if hung_up(terminal):
            self.exit(return_code=HUNG_UP)

    async def on_exit_app(self) -> None:
        """Save on an exit that cannot be refused: the terminal or the page in the browser is gone."""
        await self._read_ahead()
        self._saves_text()

    async def _read_ahead(self) -> None:
        """Wait until keys typed before the exit have reached the field, its screen and the app."""
        field = self.focused if self.screen_stack else None
        if field is None:
            return
        for reader in (field, *field.ancestors_with_self):
            read = asyncio.Event()
            is_this_one = reader is self or getattr(reader, "_task", None) is asyncio.current_task()
            if not is_this_one and reader.call_later(read.set):
                with suppress(TimeoutError):
                    await asyncio.wait_for(read.wait(), READ_AHEAD_SECONDS)

    def _saves_text(self) -> bool:
        """Save typed text; return False once if that fails, so that the next try leaves anyway."""
        if self.save_text is None or self.save_text():
            return True
        self.save_text = None
        return False


# Notices


class Notices(App[None]):
    """Clears the notices of earlier keys, because they take lines from the screen; one key may cause several."""

    NOTIFICATION_TIMEOUT = 3
    _key_since_notice = False

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._key_since_notice = True
        await super().on_event(event)

    def notify(self, message: str, **options: Any) -> None:
        """Show a message literally: it may quote files and errors, so nothing in it is mark-up."""
        if self._key_since_notice:
            self._key_since_notice = False
            self.clear_notifications()
            self.call_later(self._remove_empty_holders)  # deferred, because a thread may notify too
        super().notify(printable(message), **{**options, "markup": False})

    def _remove_empty_holders(self) -> None:
        """Remove the places that Textual keeps for cleared notices; the next notice would appear below them."""
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()


# The app

HANG_UP_CHECK_SECONDS = 1.0


def run(
    home: Home,
    settings: Settings,
    clock: Clock,
    screen: str = "home",
    *,
    topic: str | None = None,
    limit: int | None = None,
    card_filter: CardFilter | None = None,
    quiz: QuizOptions | None = None,
    mock: MockOptions | None = None,
) -> int:
    """Run the app from `screen`, or from a drill, quiz or mock interview that is chosen; return its exit code.

    Raises NotFound for an unknown topic, NoCardMatches if no card fits, and the exception that ended the app.
    """
    with Workspace.open(home, clock, settings=settings) as workspace:
        given: dict[str, Any] = {}
        if screen == "review":
            given = {"topic": workspace.library.topic(topic).id if topic is not None else None, "limit": limit}
        elif card_filter is not None:
            require_matching_cards(workspace, card_filter)
            screen, given = "review", {"card_filter": card_filter}
        elif mock is not None:
            from attncli.practice.mock import draw_plan

            draw_plan(workspace, mock)
            given = {"options": mock}
        elif quiz is not None:
            from attncli.practice.quiz import Quiz

            given = {"quiz": Quiz(workspace, quiz)}
        elif screen == "home" and is_first_run(workspace):
            screen = "first-run"
        app = AttnApp(workspace, Random(), screen, **given)
        try:
            app.reads_ahead = True
            app.run()
        finally:
            app.close_grader()
            if workspace.store.log.has_grown:
                workspace.keep_daily_copy()
        if app.failure is not None:
            raise app.failure
        return app.return_code or 0


class AttnApp(Notices, ReadAhead, UnexpectedInput, Exits):
    """The app. Its first screen is `SCREENS[screen]`, constructed with `given`."""

    TITLE = "attn"
    CSS_PATH = Path(__file__).with_name("app.tcss")  # also for a subclass in another folder
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "language", N_("中文")),
        Binding("ctrl+t", "dark_or_light", N_("Light or dark"), show=False),
        Binding("ctrl+p", "command_palette", N_("All commands"), show=False, priority=True),
        Binding("ctrl+c", "interrupt", N_("Quit"), show=False, priority=True),
        Binding("ctrl+q", "quit", N_("Quit"), show=False, priority=True),
    ]

    def __init__(self, workspace: Workspace, rng: Random, screen: str = "home", **given: Any) -> None:
        textual_fixes.install_late_clicks()
        textual_fixes.install_wrapping()
        textual_fixes.install_pasting()
        textual_fixes.install_undecodable()
        super().__init__()
        self.workspace = workspace
        workspace.store.connection.wait_at_most(BUSY_MILLISECONDS)
        self.rng = rng
        self._shown_text = ShownText()
        self.lang: Lang = workspace.lang
        self.first, self.given = screen, given
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = theme_named(workspace.settings.theme)
        if workspace.settings.reduced_motion:
            self.animation_level = "none"

    @property
    def failure(self) -> Exception | None:
        """Return the exception that ended the app, if any."""
        return self._exception

    def _fatal_error(self) -> None:
        """Leave the screen without Textual's traceback: the command line prints `failure` in one line."""
        with suppress(Exception):  # the screen itself may have failed
            self._saves_text()
        self._close_messages_no_wait()

    def close_grader(self) -> None:
        """End the judge if there is one."""
        if "grader" in self.__dict__:
            self.grader.close()

    def action_export_summary(self) -> None:
        from attncli.tui.screens.stats import export_summary

        export_summary(self, self.workspace)

    def panic(self, *renderables: RenderableType) -> None:
        """Leave, saving typed text, when Textual's thread that reads the keys has failed."""
        from rich.traceback import Traceback

        cause: str | Localised = _("the input thread failed")
        for renderable in renderables:
            if isinstance(renderable, Traceback) and renderable.trace.stacks:
                failed = renderable.trace.stacks[-1]
                cause = f"{failed.exc_type}: {failed.exc_value}"
        self._exception = EnvironmentFailure(
            _("can no longer read keys ({cause}); typed text is saved; start attn again", cause=cause)
        )
        self.exit(return_code=self._exception.exit_code)

    def on_mount(self) -> None:
        if (terminal := standard_terminal()) is not None:
            self.set_interval(HANG_UP_CHECK_SECONDS, lambda: self.leave_if_hung_up(terminal))
            self.handle_signals()
        if problems := self.workspace.store.files.problems():
            first = problems[0]
            text = ngettext(
                "{count} problem in your bank files: {first}. Run `attn bank check`.",
                "{count} problems in your bank files, the first: {first}. Run `attn bank check`.",
                len(problems),
                first=first,
            )
            self.notify(text[self.lang], severity="warning")
        self.show(self.first, **self.given)

    async def action_language(self) -> None:
        """Switch to the other language, and save it in `config.toml`."""
        lang: Lang = "en" if self.lang == "zh" else "zh"
        self._save_setting("lang", lang)
        await self._switch_language(lang)

    async def _switch_language(self, lang: Lang) -> None:
        self.lang = self.workspace.lang = lang
        for screen in self.screen_stack:
            if isinstance(screen, AttnScreen):
                await screen.switch_language()

    def setting_changed(self, key: str) -> None:
        """Apply a changed setting to the screen."""
        settings = self.workspace.settings
        if key == "lang":
            self.call_later(self._switch_language, settings.lang)
        elif key == "theme":
            self.theme = theme_named(settings.theme)
        elif key == "reduced_motion":
            self.animation_level = "none" if settings.reduced_motion else "full"

    def action_dark_or_light(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name
        self._save_setting("theme", "dark" if self.theme == DARK.name else "light")

    def _save_setting(self, key: str, value: str) -> None:
        with self.showing_errors():
            config.save(self.workspace.home.config, key, value)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette(placeholder=_("Type a command")[self.lang], id="--command-palette"))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._shown_text]

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the entries of the command palette: the keys of the screen below, then what works everywhere."""
        for key, binding in shown_bindings(screen):
            if binding.action != "language" and key[1:2] != "-":
                yield SystemCommand(_(binding.description)[self.lang], key, partial(self.simulate_key, binding.key))
        for name, text in IN_PALETTE.items():
            yield SystemCommand(text[self.lang], "", partial(self.show, name))
        yield SystemCommand(_("Export the interview summary")[self.lang], "", self.action_export_summary)
        yield SystemCommand(_("Switch to Chinese")[self.lang], "l", self.action_language)
        yield SystemCommand(_("Switch between light and dark")[self.lang], "Ctrl+T", self.action_dark_or_light)
        yield SystemCommand(_("Quit attn")[self.lang], "Ctrl+Q", self.action_quit)

    def on_key(self, event: events.Key) -> None:
        """Treat full-width keys of a Chinese input method as their ASCII twins."""
        if twin := ascii_twin(event.character):
            event.stop()
            self.simulate_key(twin)


# Private names of Textual; without them the palette gathers as Textual does.
_GATHER: Any = getattr(getattr(CommandPalette, "_gather_commands", None), "__wrapped__", None)
_GROUP = getattr(CommandPalette, "_GATHER_COMMANDS_GROUP", "default")


class Palette(CommandPalette):
    """Textual's command palette, safe when it is closed before it has opened, or opened in a tiny terminal."""

    if _GATHER is not None:

        @work(exclusive=True, group=_GROUP)
        async def _gather_commands(self, search_value: str) -> None:
            if self.query(CommandList):
                await _GATHER(self, search_value)

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region or not action.startswith("page"):
            super()._action_command_list(action)


# The terminal or page that the app is drawn on

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"


def drawn_in_a_page(environment: Mapping[str, str]) -> bool:
    """Return True if the app draws for a page in a browser (`attn serve`), through pipes instead of a terminal."""
    return environment.get("TEXTUAL_DRIVER") == WEB_DRIVER


def standard_terminal() -> int | None:
    """Return the descriptor of the keyboard input, None if it is no terminal or server pipe that can be watched."""
    stream = sys.__stdin__
    if not hasattr(select, "poll"):  # Windows
        return None
    try:
        watched = stream is not None and (os.isatty(stream.fileno()) or drawn_in_a_page(os.environ))
        return stream.fileno() if stream is not None and watched else None
    except (OSError, ValueError):
        return None


def hung_up(descriptor: int) -> bool:
    """Return True if the other side of a terminal is gone. Textual itself would read a closed terminal forever."""
    poller = select.poll()
    poller.register(descriptor, 0)  # poll reports a hang-up in any case
    return bool(poller.poll(0))
