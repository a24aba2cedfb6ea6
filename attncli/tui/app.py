"""The app: which screen is shown, in which language and theme, and what the command palette (Ctrl-P) offers.

`run` is what the command line calls; tests make `AttnApp` so too. The clock is passed on, never read below this module;
randomness (the order of options, fresh numbers) comes from one generator that tests can seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from rich.traceback import Traceback
from textual import events
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from attncli.config import Settings
from attncli.domain.text import Lang
from attncli.errors import EnvironmentFailure
from attncli.paths import Home
from attncli.practice.cards.choose_cards import Wish, require_fitting
from attncli.practice.first_run import is_first_run
from attncli.practice.warm_judge import WarmJudge
from attncli.practice.workspace import Clock, Workspace
from attncli.tui import late_clicks, pasting, undecodable, wrapping
from attncli.tui.app_errors import BUSY_MILLISECONDS
from attncli.tui.last_resort import last_resort
from attncli.tui.notices import Notices
from attncli.tui.routes import Route
from attncli.tui.screens.base import AttnScreen
from attncli.tui.shown_text import ShownText
from attncli.tui.summary_export import export_summary
from attncli.tui.terminal import drawn_in_a_page, standard_terminal
from attncli.tui.textual_fixes import CollectWhenIdle
from attncli.tui.theme import DARK, LIGHT, THEMES, theme_named
from attncli.tui.unexpected_input import UnexpectedInput
from attncli.tui.ways_in import WaysIn, drawn_quiz
from attncli.tui.ways_out import WaysOut
from attncli.words.app_texts import say, say_counted
from attncli.words.in_chinese import told_in

if TYPE_CHECKING:
    from attncli.practice.compose_mock import MockWish
    from attncli.practice.quiz import Quiz, QuizWish

SECONDS_BETWEEN_LOOKS = 1.0


def run(
    home: Home,
    settings: Settings,
    clock: Clock,
    screen: Route = "home",
    *,
    topic: str | None = None,
    limit: int | None = None,
    wish: Wish | None = None,
    quiz: QuizWish | None = None,
    mock: MockWish | None = None,
) -> int:
    """Opens the app at `screen`, or in a drill or a quiz of what is wished for; its exit code.

    Raises NotFound for an unknown topic, NothingFits for a wish that no card fits, and whatever ended the app.
    """
    with Workspace.open(home, clock, settings=settings) as workspace:
        if topic is not None:
            workspace.library.topic(topic)
        if wish is not None:
            require_fitting(workspace, wish)
        if mock is not None:
            from attncli.practice.compose_mock import draw_plan

            draw_plan(workspace, mock)
        drawn = None if quiz is None else drawn_quiz(workspace, quiz)
        if screen == "home" and is_first_run(workspace):
            screen = "first-run"
        app = AttnApp(workspace, Random(), screen, topic=topic, limit=limit, wish=wish, quiz=drawn)
        app.mock_wish = mock
        try:
            with app.keys_first(), _ended_for_certain() as app.is_leaving:
                app.run()
        finally:
            app.grader.close()
            if workspace.store.has_new_rows:
                workspace.keep_daily_copy()
        if app.failure is not None:
            raise app.failure
        return app.return_code or 0


def _ended_for_certain() -> AbstractContextManager[Callable[[], None]]:
    """A page in a browser is ended by its server."""
    terminal = standard_terminal()
    return nullcontext(lambda: None) if terminal is None or drawn_in_a_page(os.environ) else last_resort(terminal)


class AttnApp(WaysIn, Notices, CollectWhenIdle, UnexpectedInput, WaysOut):
    """Routes between screens."""

    TITLE = "attn"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "language", "key.language"),
        Binding("ctrl+t", "dark_or_light", "key.theme", show=False),
        Binding("ctrl+p", "command_palette", "key.palette", show=False, priority=True),
        Binding("ctrl+c", "interrupt", "key.quit", show=False, priority=True),
        Binding("ctrl+q", "quit", "key.quit", show=False, priority=True),
    ]

    def __init__(
        self,
        workspace: Workspace,
        rng: Random,
        screen: Route = "home",
        *,
        topic: str | None = None,
        limit: int | None = None,
        wish: Wish | None = None,
        quiz: Quiz | None = None,
    ) -> None:
        late_clicks.install()
        wrapping.install()
        pasting.install()
        undecodable.install()
        super().__init__()
        self.workspace = workspace
        workspace.store.wait_at_most(BUSY_MILLISECONDS)
        self.rng = rng
        self._shown_text = ShownText()
        self.grader = WarmJudge()
        self.lang: Lang = workspace.lang
        self._first: Route = screen
        self._topic, self._limit, self._wish, self._quiz = topic, limit, wish, quiz
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = theme_named(workspace.settings.theme)
        if workspace.settings.reduced_motion:
            self.animation_level = "none"

    @property
    def failure(self) -> Exception | None:
        """What ended the app, if something went wrong."""
        return self._exception

    def _fatal_error(self) -> None:
        """Leaves the screen and prints no traceback, as Textual would: the command line says `failure` in one line."""
        with suppress(Exception):  # the screen may be what failed
            self._has_kept()
        self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        """Textual calls this when the thread that reads the keys has failed; what was typed is kept as at any end."""
        said = "their thread has failed"
        for renderable in renderables:
            if isinstance(renderable, Traceback) and renderable.trace.stacks:
                failed = renderable.trace.stacks[-1]
                said = f"{failed.exc_type}: {failed.exc_value}"
        self._exception = EnvironmentFailure(
            f"the keys cannot be read any more ({said}); what was typed is kept; start attn again"
        )
        self.exit(return_code=self._exception.exit_code)

    def on_mount(self) -> None:
        if (terminal := standard_terminal()) is not None:
            self.set_interval(SECONDS_BETWEEN_LOOKS, lambda: self.leave_if_hung_up(terminal))
            self.leave_when_told()
        if problems := self.workspace.library.problems():
            first = told_in(self.lang, problems[0])
            self.notify(say_counted("app.problems", self.lang, len(problems), first=first), severity="warning")
        if self._wish is not None:
            from attncli.tui.screens.review import ReviewScreen

            self.push_screen(ReviewScreen(wish=self._wish))
        elif self._quiz is not None:
            self.show_quiz(self._quiz)
        elif self._first == "review":
            self.open_review(self._topic, self._limit)
        else:
            self.open(self._first)

    async def action_language(self) -> None:
        """The other language, here and in `config.toml`."""
        self._remember("lang", "en" if self.lang == "zh" else "zh")
        await self._speak("en" if self.lang == "zh" else "zh")

    async def _speak(self, lang: Lang) -> None:
        self.lang = self.workspace.lang = lang
        for screen in self.screen_stack:
            if isinstance(screen, AttnScreen):
                await screen.in_other_language()

    def setting_changed(self, key: str) -> None:
        """Shows what a setting changed on the screen."""
        settings = self.workspace.settings
        if key == "lang":
            self.call_later(self._speak, settings.lang)
        elif key == "theme":
            self.theme = theme_named(settings.theme)
        elif key == "reduced_motion":
            self.animation_level = "none" if settings.reduced_motion else "full"

    def action_dark_or_light(self) -> None:
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name
        self._remember("theme", "dark" if self.theme == DARK.name else "light")

    def _remember(self, key: str, value: str) -> None:
        from attncli import config

        with self.telling():
            config.save(self.workspace.home.config, key, value)

    def action_command_palette(self) -> None:
        from textual.command import CommandPalette

        from attncli.tui.palette import Palette

        if not isinstance(self.screen, CommandPalette):
            self.push_screen(Palette(placeholder=say("palette.prompt", self.lang), id="--command-palette"))

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), self._shown_text]

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette."""
        for route in ("home", "review", "drill", "quiz", "mock", "challenges", "stats", "plan", "search", "settings"):
            yield SystemCommand(say(f"palette.{route}", self.lang), "", partial(self.open, route))
        yield SystemCommand(say("palette.export-summary", self.lang), "", partial(export_summary, self, self.workspace))
        yield SystemCommand(say("palette.language", self.lang), "l", self.action_language)
        yield SystemCommand(say("palette.theme", self.lang), "Ctrl+T", self.action_dark_or_light)
        yield SystemCommand(say("palette.quit", self.lang), "Ctrl+Q", self.action_quit)

    def on_key(self, event: events.Key) -> None:
        """Full-width keys of a Chinese input method do what their ASCII twins do."""
        from attncli.tui.full_width_keys import ascii_twin

        if twin := ascii_twin(event.character):
            event.stop()
            self.simulate_key(twin)
