"""The app: which screen is shown, in which language and theme, and what the command palette (Ctrl-P) offers.

`run` is what the command line calls; tests make `AttnApp` so too. The clock is passed on, never read below this module;
randomness (the order of options, fresh numbers) comes from one generator that tests can seed.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from rich.traceback import Traceback
from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandList, CommandPalette
from textual.filter import LineFilter
from textual.screen import Screen

from attncli.config import Settings
from attncli.domain.card import SITTINGS, Level
from attncli.domain.text import Lang, printable
from attncli.errors import INTERRUPTED, AttnError, EnvironmentFailure
from attncli.paths import Home
from attncli.practice.grade import WarmJudge
from attncli.practice.queue import Wish, level_wished, require_fitting
from attncli.practice.workspace import Clock, Workspace, is_first_run
from attncli.tui import textual_fixes
from attncli.tui.last_resort import last_resort
from attncli.tui.screens.base import BUSY_MILLISECONDS, AttnScreen, Route, fault_text
from attncli.tui.screens.stats import export_summary
from attncli.tui.textual_fixes import CollectWhenIdle, ShownText, UnexpectedInput
from attncli.tui.theme import DARK, LIGHT, THEMES, theme_named
from attncli.words.app_texts import say, say_counted
from attncli.words.in_chinese import told_in

if TYPE_CHECKING:
    from attncli.domain.mock_interview import MockReport
    from attncli.practice.mock import MockInterview, MockWish
    from attncli.practice.quiz import Quiz, QuizWish


# The ways into the screens: one call for each, however it is asked for (a key, the palette, the command line).


class WaysIn(App[None]):
    """Screens know routes, not each other: whoever leads from one to the next asks here."""

    workspace: Workspace
    rng: Random
    lang: Lang
    mock_wish: MockWish | None = None

    def tell(self, error: AttnError) -> None:
        """Says in one line what went wrong; the app goes on."""
        self.notify(fault_text(error, self.lang), severity="warning", markup=False)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What goes wrong inside is told; the app goes on behind it."""
        try:
            yield
        except AttnError as error:
            self.tell(error)

    def open(self, route: Route) -> None:
        """Shows the screen of this name."""
        if route == "quiz":
            self.open_quiz()
        elif route == "mock":
            wish, self.mock_wish = self.mock_wish, None
            self.push_screen(mock_screen(wish, self.rng, level_wished(self.workspace)))
        else:
            self.push_screen(screen_at(route, level_wished(self.workspace)))

    def open_review(self, topic: str | None = None, limit: int | None = None) -> None:
        from attncli.tui.screens.review import ReviewScreen

        self.push_screen(ReviewScreen(topic, limit))

    def open_planned(self, cards: Sequence[str]) -> None:
        """A review of these cards in this order, in the place of the screen on which they were listed."""
        from attncli.tui.screens.review import ReviewScreen

        self.switch_screen(ReviewScreen(planned=cards))

    def open_drill(self, wish: Wish) -> None:
        """Where a drill is chosen, beginning with `wish`."""
        from attncli.tui.screens.drill import DrillScreen

        self.push_screen(DrillScreen(wish))

    def start_drill(self, wish: Wish) -> None:
        """The drill itself, in the place of the screen on which it was chosen. Raises NothingFits."""
        from attncli.tui.screens.review import ReviewScreen

        require_fitting(self.workspace, wish)
        self.switch_screen(ReviewScreen(wish=wish))

    def open_quiz(self, topic: str | None = None) -> None:
        """A quiz drawn now, or a line where there is no card for one."""
        from attncli.practice.quiz import QuizWish

        wish = QuizWish(topic, seed=self.rng.randrange(SITTINGS), level=level_wished(self.workspace))
        with self.telling():
            self.show_quiz(drawn_quiz(self.workspace, wish))

    def show_quiz(self, quiz: Quiz) -> None:
        from attncli.tui.screens.quiz import QuizScreen

        self.push_screen(QuizScreen(quiz))

    def show_interview(self, interview: MockInterview) -> None:
        """What an interview asks now, or what it came to, in the place of the screen that is shown."""
        self.switch_screen(interview_screen(self.workspace, interview))

    def open_mock_report(self, report: MockReport) -> None:
        self.push_screen(report_screen(report))

    def open_challenge(self, id: str) -> None:
        from attncli.tui.screens.challenge import ChallengeScreen

        self.push_screen(ChallengeScreen(id))

    def open_card(self, id: str, question_first: bool = False) -> None:
        from attncli.tui.screens.cards import CardScreen

        self.push_screen(CardScreen(id, question_first))

    def open_add_card(self, topic: str | None = None) -> None:
        from attncli.tui.screens.cards import AddCardScreen

        self.push_screen(AddCardScreen(topic))

    def open_experiment(self, id: str) -> None:
        from attncli.tui.screens.experiment import ExperimentScreen

        self.push_screen(ExperimentScreen(id, self.lang))

    def open_help(self, below: Screen[Any]) -> None:
        from attncli.tui.screens.base import HelpScreen

        self.push_screen(HelpScreen(below, self.lang))

    def go_back(self) -> None:
        """To the screen below; from a lone screen to Home; from Home out of the app."""
        from attncli.tui.screens.home import HomeScreen

        if isinstance(self.screen, HomeScreen):
            self.exit()
        elif len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.switch_screen(HomeScreen())


def drawn_quiz(workspace: Workspace, wish: QuizWish) -> Quiz:
    """A quiz of what is wished for. Raises NothingFits."""
    from attncli.practice.quiz import Quiz

    return Quiz(workspace, wish)


# The ways out of the app; whichever is taken, what was typed is on disk first.

HUNG_UP = 129
READ_AHEAD_SECONDS = 1.0
"""So long the end waits at most for what was typed just before it."""


class WaysOut(App[None]):
    """Before it ends it calls `keep`, which a screen with typed text sets: whether that is on disk now."""

    keep: Callable[[], bool] | None = None
    is_leaving: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._handlers: dict[int, Any] = {}

    async def action_interrupt(self) -> None:
        """Ctrl-C ends the app as it ends every command."""
        await self._read_ahead()
        if self._has_kept():
            self.exit(return_code=INTERRUPTED)

    async def action_quit(self) -> None:
        await self._read_ahead()
        if self._has_kept():
            self.exit()

    def leave_when_told(self) -> None:
        """A closed window sends SIGHUP, a machine going down SIGTERM; either would end Python with what was typed."""
        loop = asyncio.get_running_loop()
        for name in ("SIGHUP", "SIGTERM"):
            if (number := getattr(signal, name, None)) is not None:
                with suppress(ValueError):  # not in the main thread
                    handler = signal.signal(number, lambda told, _: loop.call_soon_threadsafe(self._leave_at, told))
                    self._handlers.setdefault(number, handler)

    def on_unmount(self) -> None:
        """Whoever is told twice ends at once."""
        while self._handlers:
            signal.signal(*self._handlers.popitem())

    def _leave_at(self, number: int) -> None:
        self.is_leaving()
        self.exit(return_code=128 + number)

    def leave_if_hung_up(self, terminal: int) -> None:
        if hung_up(terminal):
            self.is_leaving()
            self.exit(return_code=HUNG_UP)

    async def on_exit_app(self) -> None:
        """The end that nobody can put off: the terminal is gone, or the page in the browser."""
        await self._read_ahead()
        self._has_kept()

    async def _read_ahead(self) -> None:
        """Keys that came before the end reach the field, and what it makes of them its screen."""
        field = self.focused if self.screen_stack else None
        if field is None:
            return
        for reader in (field, *field.ancestors_with_self):
            read = asyncio.Event()
            is_this_one = reader is self or getattr(reader, "_task", None) is asyncio.current_task()
            if not is_this_one and reader.call_later(read.set):
                with suppress(TimeoutError):
                    await asyncio.wait_for(read.wait(), READ_AHEAD_SECONDS)

    def _has_kept(self) -> bool:
        """Where it cannot be kept, that is told once, and the next try leaves all the same."""
        if self.keep is None or self.keep():
            return True
        self.keep = None
        return False


# The screen behind each name that the command palette and the command line know.


def screen_at(route: Route, level: Level | None = None) -> AttnScreen:
    """A new screen, a drill beginning with the `level` that is set.

    Each is imported when it is first opened: the first frame waits for none but its own.
    """
    if route == "home":
        from attncli.tui.screens.home import HomeScreen

        return HomeScreen()
    if route == "review":
        from attncli.tui.screens.review import ReviewScreen

        return ReviewScreen()
    if route == "drill":
        from attncli.tui.screens.drill import DrillScreen

        return DrillScreen(Wish(level=level))
    if route == "challenges":
        from attncli.tui.screens.challenges import ChallengesScreen

        return ChallengesScreen()
    if route == "search":
        from attncli.tui.screens.cards import SearchScreen

        return SearchScreen()
    if route == "settings":
        from attncli.tui.screens.settings import SettingsScreen

        return SettingsScreen()
    if route == "first-run":
        from attncli.tui.screens.first_run import FirstRunScreen

        return FirstRunScreen()
    if route == "plan":
        from attncli.tui.screens.plan import PlanScreen

        return PlanScreen()
    from attncli.tui.screens.stats import StatsScreen

    return StatsScreen()


def mock_screen(wish: MockWish | None, rng: Random, level: Level | None) -> AttnScreen:
    """Where an interview is chosen: beginning with a wish, or with one that is drawn, at the level that is set."""
    from attncli.practice.mock import MOCK_LEVEL, MockWish
    from attncli.tui.screens.mock import MockScreen

    return MockScreen(wish or MockWish(level=level or MOCK_LEVEL, seed=rng.randrange(SITTINGS)))


def interview_screen(workspace: Workspace, interview: MockInterview) -> AttnScreen:
    """What an interview asks now, or what it came to. Raises AttnError where a file cannot be handed out."""
    if interview.item is None:
        from attncli.practice.mock import report_of

        return report_screen(report_of(workspace, interview.state))
    if interview.item.is_code:
        from attncli.tui.screens.mock import MockCodeScreen

        return MockCodeScreen(interview)
    from attncli.tui.screens.mock import MockInterviewScreen

    return MockInterviewScreen(interview)


def report_screen(report: MockReport) -> AttnScreen:
    """What an interview came to."""
    from attncli.tui.screens.mock import MockReportScreen

    return MockReportScreen(report)


# What the app says in passing: a notice is about the last key, and takes the place of those about earlier ones.


class Notices(App[None]):
    """Notices that piled up would cover what is being read; what one key leads to may be told in several."""

    NOTIFICATION_TIMEOUT = 3
    _is_another_key = False

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self._is_another_key = True
        await super().on_event(event)

    def notify(self, message: str, **options: Any) -> None:
        """A message says what files and errors say: none of it is mark-up."""
        if self._is_another_key:
            self._is_another_key = False
            self.clear_notifications()
            self.call_later(self._take_places_away)  # a thread may tell something too
        super().notify(printable(message), **{**options, "markup": False})

    def _take_places_away(self) -> None:
        """Textual takes a cleared notice off the screen but not its place, below which the next one would come."""
        for screen in self.screen_stack:
            screen.query("ToastHolder").remove()


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
            from attncli.practice.mock import draw_plan

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
        textual_fixes.install_late_clicks()
        textual_fixes.install_wrapping()
        textual_fixes.install_pasting()
        textual_fixes.install_undecodable()
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
        from attncli.tui.textual_fixes import ascii_twin

        if twin := ascii_twin(event.character):
            event.stop()
            self.simulate_key(twin)


# Textual's command palette, made safe: it may be closed before it has opened, or opened where there is no room.

# Textual's own, under names that may go: then the palette gathers as Textual does.
_GATHER: Any = getattr(getattr(CommandPalette, "_gather_commands", None), "__wrapped__", None)
_GROUP = getattr(CommandPalette, "_GATHER_COMMANDS_GROUP", "default")


class Palette(CommandPalette):
    """Looks for nothing where there is no list to show it in, and pages through none without a height."""

    if _GATHER is not None:

        @work(exclusive=True, group=_GROUP)
        async def _gather_commands(self, search_value: str) -> None:
            if self.query(CommandList):
                await _GATHER(self, search_value)

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region or not action.startswith("page"):
            super()._action_command_list(action)


# Where the app is drawn, and whether that is still there. Textual reads a closed terminal again and again.

WEB_DRIVER = "textual.drivers.web_driver:WebDriver"


def drawn_in_a_page(environment: Mapping[str, str]) -> bool:
    """Whether the app draws for a page in a browser (see `attn serve`): through pipes, not on a terminal."""
    return environment.get("TEXTUAL_DRIVER") == WEB_DRIVER


def standard_terminal() -> int | None:
    """The descriptor that keys come from, where it is a terminal (or the server's pipe) that can be watched."""
    stream = sys.__stdin__
    if not hasattr(select, "poll"):  # Windows
        return None
    try:
        watched = stream is not None and (os.isatty(stream.fileno()) or drawn_in_a_page(os.environ))
        return stream.fileno() if stream is not None and watched else None
    except (OSError, ValueError):
        return None


def hung_up(descriptor: int) -> bool:
    """Whether the other side of a terminal is gone: its window was closed, its connection cut."""
    poller = select.poll()
    poller.register(descriptor, 0)  # a hang-up is told in any case
    return bool(poller.poll(0))
