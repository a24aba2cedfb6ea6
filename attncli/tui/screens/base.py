"""The table of screens, the base class of all screens, the dialogs that any may open, and the wording of errors.

A screen asks the app for another one by name (`attn.show("plan")`), so that no screen imports another one to open it.
"""

from __future__ import annotations

import gc
import os
import sys
from asyncio import Lock
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from attncli.domain.vocabulary import KIND_NAMES, LEVEL_NAMES
from attncli.errors import (
    AttnError,
    ClockWrong,
    ConfigInvalid,
    EditorMissing,
    ExperimentFailed,
    InvalidInput,
    JudgeFailed,
    NoCardMatches,
    NotFound,
    NoTorch,
    Outdated,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnwritable,
)
from attncli.i18n import N_, Lang, Localised, _, pgettext
from attncli.practice.queue import CardFilter
from attncli.practice.record import toggle_flag
from attncli.practice.workspace import Workspace
from attncli.tui.widgets.basics import KeyBar, Plain, SolidBackground, TitleBar, is_own, key_name, left

if TYPE_CHECKING:
    from attncli.domain.card import Card
    from attncli.practice.grade import Judge

# Navigation


SCREENS = {
    "add-card": "cards.AddCardScreen",
    "card": "cards.CardScreen",
    "challenge": "challenge.ChallengeScreen",
    "challenges": "challenges.ChallengesScreen",
    "drill": "drill.DrillScreen",
    "experiment": "experiment.ExperimentScreen",
    "first-run": "settings.FirstRunScreen",
    "home": "home.HomeScreen",
    "mock": "mock.MockScreen",
    "own-tests": "own_tests.OwnTestsScreen",
    "plan": "plan.PlanScreen",
    "quiz": "quiz.QuizScreen",
    "review": "review.ReviewScreen",
    "search": "cards.SearchScreen",
    "settings": "settings.SettingsScreen",
    "stats": "stats.StatsScreen",
}
"""The module and class of each screen that another one opens; a module is imported when its screen is first shown."""
IN_PALETTE: dict[str, Localised] = {
    "home": _("Go to Home"),
    "review": _("Review all topics"),
    "drill": _("Drill cards of your choice"),
    "quiz": _("Take a quiz on all topics"),
    "mock": _("Start a mock interview"),
    "challenges": _("List the challenges"),
    "stats": _("Show statistics"),
    "plan": _("Show the interview plan"),
    "search": _("Search cards"),
    "settings": _("Change settings"),
}
"""The screens that the command palette opens, with their entries."""


class Navigation(App[None]):
    """The app as its screens see it: it shows other screens by name, and errors; screens do not import each other."""

    workspace: Workspace
    rng: Random
    lang: Lang
    save_text: Callable[[], bool] | None = None

    @cached_property
    def grader(self) -> Judge:
        """The judge of this session; it starts with the first grading."""
        from attncli.practice.grade import Judge

        return Judge()

    def show_error(self, error: AttnError) -> None:
        """Notify the learner of an error in one line; the app goes on."""
        self.notify(error_text(error, self.lang), severity="warning", markup=False)

    @contextmanager
    def showing_errors(self) -> Iterator[None]:
        """Show an AttnError raised inside, and go on after the block."""
        try:
            yield
        except AttnError as error:
            self.show_error(error)

    def show(self, name: str, *given: Any, replace: bool = False, **options: Any) -> None:
        """Open the screen of this name, with its arguments, above the current one or in its place.

        An AttnError raised while it is made is shown, and nothing is opened.
        """
        module, _dot, screen = SCREENS[name].partition(".")
        is_new = f"{__package__}.{module}" not in sys.modules
        with self.showing_errors():
            opened = getattr(import_module(f"{__package__}.{module}"), screen)(*given, **options)
            if is_new:
                gc.freeze()  # keep full collections from scanning the imported modules while a key waits
            self.switch_screen(opened) if replace else self.push_screen(opened)

    def go_back(self) -> None:
        """Return to the screen below, from a single screen to Home."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.show("home", replace=True)

    def setting_changed(self, key: str) -> None:
        """Apply a changed setting to the screen."""
        raise NotImplementedError


# The base of the screens

LEAST_WIDTH, LEAST_HEIGHT = 60, 18
READ_SECONDS = 0.01
"""Pause between two parts of a long read, so that keys are handled."""


def fits(size: Size) -> bool:
    """Return True if a terminal is large enough for the screens."""
    return size.width >= LEAST_WIDTH and size.height >= LEAST_HEIGHT


class TooSmall(Plain):
    """Shown instead of the screen in a terminal smaller than 60×18."""


class AttnScreen(SolidBackground, Screen[None]):
    """A screen with a title bar, a body and a key bar, in the learner's language.

    Subclasses define `title_bar` and `body`; `focus_first` sets the focus after (re)composing.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", N_("Back"), key_display="Esc"),
        Binding("question_mark,fullwidth_question_mark,f1", "help", N_("Help"), key_display="?"),
    ]
    AUTO_FOCUS: ClassVar[str | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.composing = Lock()
        """Held while the screen's parts change: a key may recompose it while a grading ends."""
        self._was_left = False

    @property
    def attn(self) -> Navigation:
        return cast(Navigation, self.app)

    @property
    def workspace(self) -> Workspace:
        return self.attn.workspace

    @property
    def lang(self) -> Lang:
        return self.attn.lang

    def question_of(self, card: str) -> Localised | None:
        """Return the question of a card, or None: links may name cards that are not written yet."""
        try:
            return self.workspace.library.card(card).wording
        except NotFound:
            return None

    def topic_title(self, id: str) -> str:
        return self.workspace.library.topic(id).title[self.lang]

    def kind_and_level(self, card: Card) -> str:
        return f"{KIND_NAMES[card.kind][self.lang]} · {LEVEL_NAMES[card.level][self.lang]}"

    def flag(self, card: str) -> None:
        """Flag a card, or take its flag away, and say so."""
        text = _("{card} flagged") if toggle_flag(self.workspace, card) else _("{card} unflagged")
        self.notify(text.format(card=card)[self.lang])

    def drill(self, cards: Iterable[str]) -> None:
        """Open a drill of these cards."""
        only = tuple(dict.fromkeys(cards))
        self.attn.show("review", card_filter=CardFilter(count=len(only), only=only))

    def title_bar(self) -> TitleBar:
        raise NotImplementedError

    def body(self) -> Iterable[Widget]:
        raise NotImplementedError

    def focus_first(self) -> None:
        """Set the focus after composing; by default it stays where it is."""

    async def reload(self) -> None:
        """Refresh the screen when it comes back after another one, which may have changed its data."""

    def lay_out(self) -> None:
        """Refresh the parts that depend on the size, after a change of the size."""

    def on_screen_suspend(self) -> None:
        self._was_left = True

    async def on_screen_resume(self) -> None:
        if self._was_left:
            self._was_left = False
            await self.reload()

    def compose(self) -> ComposeResult:
        yield self.title_bar()
        yield from self.body()
        yield KeyBar(self.lang)
        yield TooSmall(classes="too-small")

    def on_mount(self) -> None:
        if self.AUTO_FOCUS is None:
            self.call_after_refresh(self._focus_first_if_composed)

    def _focus_first_if_composed(self) -> None:
        """Do nothing while the screen is recomposed or closes, as when the language is switched at the same time."""
        with suppress(NoMatches):
            self.focus_first()

    async def switch_language(self) -> None:
        """Recompose everything from the state of the screen."""
        async with self.composing:
            await self._recompose()

    async def _recompose(self) -> None:
        await self.recompose()
        self._focus_first_if_composed()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        small = not fits(event.size)
        if self.has_class("-too-small") and not small:
            self.call_after_refresh(self._focus_first_if_composed)  # Textual blurs hidden widgets
        self.set_class(small, "-too-small")
        with suppress(NoMatches):  # the screen may be recomposing
            if small:
                sizes = {"width": width, "height": height, "least_width": LEAST_WIDTH, "least_height": LEAST_HEIGHT}
                self.query_one(TooSmall).update(
                    _(
                        "Terminal too small: {width}×{height}. Enlarge it to {least_width}×{least_height} or more.",
                        **sizes,
                    )[self.lang]
                )
            self.lay_out()

    async def confirm(self, question: Localised, yes: Localised, no: Localised) -> bool:
        """Ask a yes-or-no question; call in a worker."""
        choices = {"y": yes[self.lang], "n": no[self.lang]}
        return await self.app.push_screen_wait(ChoiceScreen(question[self.lang], choices)) == "y"

    def action_back(self) -> None:
        self.attn.go_back()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen(self, self.lang))


# Dialogs


class ChoiceScreen(ModalScreen[str]):
    """A question; a key of `choices`, or a click on its text, returns that key. Escape and q return an empty one."""

    CSS_PATH = "base.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss('')", show=False)]

    def __init__(self, question: str, choices: Mapping[str, str]) -> None:
        super().__init__()
        self.question, self.choices = question, choices

    def compose(self) -> ComposeResult:
        markup = "    ".join(f"[@click=screen.dismiss('{key}')]$text_{key}[/]" for key in self.choices)
        with Vertical():
            yield Plain(self.question)
            yield Plain(Content.from_markup(markup, **{f"text_{key}": text for key, text in self.choices.items()}))

    def on_key(self, event: events.Key) -> None:
        if event.key in self.choices:
            event.stop()
            self.dismiss(event.key)


class HelpScreen(ModalScreen[None]):
    """The keys of the screen below, in words; Escape, q or ? closes it."""

    CSS_PATH = "base.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,fullwidth_question_mark,enter,f1", "dismiss", show=False)
    ]

    def __init__(self, below: Screen[Any], lang: Lang) -> None:
        super().__init__()
        self.below, self.lang = below, lang
        self._keys = self._active_keys()

    def compose(self) -> ComposeResult:
        lang = self.lang
        lines = [Content.assemble((left(key, 16), "bold $primary"), text) for key, text in self._keys]
        note = Content.styled(
            _("Full-width keys (１ ２ ３ ４ ？ ！) work too, so you can leave a Chinese input method on.")[lang],
            "$text-muted",
        )
        with VerticalScroll():
            yield Plain(Content.styled(_("Keys on this screen")[lang], "bold"), classes="title")
            yield Plain(Content("\n").join(lines))
            yield Plain(note, classes="note")
            yield Plain(Content.styled(_("Esc: close")[lang], "$text-muted"))

    def _active_keys(self) -> list[tuple[str, str]]:
        """Return (keys, description) pairs, those in the key bar first."""
        found: dict[str, list[str]] = {}
        for active in sorted(self.below.active_bindings.values(), key=lambda active: not active.binding.show):
            binding = active.binding
            if binding.description and active.enabled and is_own(active):
                names = found.setdefault(_(binding.description)[self.lang], [])
                names += [name for name in key_name(binding).split() if name not in names]
        return [(_joined(names), text) for text, names in found.items()]


def _joined(names: list[str]) -> str:
    """Return up to three names, or a range such as `1-4` alone if there is one."""
    return next((name for name in names if "-" in name and len(name) > 1), " ".join(names[:3]))


# Errors

BUSY_MILLISECONDS = 200
"""Longest time for which a key waits for another process that is writing."""

_LINES: dict[type[AttnError], Localised] = {
    StoreBusy: _("Not saved: another attn is writing. Press the key again."),
    StoreFull: _("Not saved: the disk is full. Free some space, then press the key again."),
    StoreUnwritable: _("Not saved: cannot write your history. Run `attn doctor`."),
    ClockWrong: _("Not saved: this machine's clock is wrong. Set it, then try again."),
    StoreCorrupt: _("Not saved: the cache is damaged. Restart attn to rebuild it."),
    StoreError: _("Not saved: cannot use your history. Run `attn doctor`."),
    Outdated: _("Not saved: the intervals have changed. Rate it again."),
    NoCardMatches: _("No card matches. Choose another topic."),
    NoTorch: _("Grading needs PyTorch: pip install torch."),
    JudgeFailed: pgettext("judge", "{message}"),
    ExperimentFailed: pgettext("experiment", "{message}"),
    ConfigInvalid: pgettext("settings", "{message}"),
}
_INVALID: dict[str, Localised] = {
    "topic": _("Use lower-case letters, digits and single hyphens for a topic."),
    "search-length": _("The search is too long: {count} characters, at most {most}."),
    "number": _("Enter a number, e.g. 1.5, 1.5e3 or 3/4."),
    "number-unread": _("Enter a number, e.g. 1.5, 1.5e3 or 3/4; commas separate groups of three digits."),
    "unit": _("Answer in {unit}, not in “{given}”."),
    "unit-none": _("Enter a plain number, without “{given}”."),
    "no-hints": _("This challenge has no hints; press o for the reference."),
    "no-survivor": _("Run your tests first: g. A hint names a wrong solution that they missed."),
    "no-bug": _("This challenge has no wrong solution to debug."),
    "file-large": _("{file} is too large for a solution."),
    "file-unread": _("Cannot read {file}; check its permissions."),
    "undo": _("There is nothing to undo on this machine."),
    "interview-none": _("No interview date is set. Press , and set one."),
    "interview-past": _("The interview date has passed. Press , and set the next one."),
    "interview-far": _("The interview is more than two years away. Press , and check the date."),
}
"""The reasons of InvalidInput, in the words of a screen: the error's own message names commands."""


def error_text(error: AttnError, lang: Lang) -> str:
    """Return one line in the learner's language: the error and a remedy."""
    if isinstance(error, InvalidInput):
        return _INVALID[error.reason].format(**error.parts)[lang]
    line = next((line for kind, line in _LINES.items() if isinstance(error, kind)), pgettext("editor", "{message}"))
    return line.format(message=error.message)[lang]


# Opening a file


def ensure_file(screen: AttnScreen, challenge: str, file: Path) -> bool:
    """Write a starter if there is no file; return False, showing the error, if that fails."""
    from attncli.practice.start import start_challenge

    if not file.exists():
        try:
            start_challenge(screen.workspace, challenge)
        except AttnError as error:
            screen.attn.show_error(error)
            return False
        screen.notify(_("Starter written: {file}", file=file)[screen.lang])
    return True


def edit_externally(screen: AttnScreen, file: Path) -> None:
    """Open the learner's editor and wait until it is closed; notify if there is none or it cannot be shown.

    No error may leave `suspend`: Textual would never restore the terminal.
    """
    from attncli.practice.start import edit

    missing: EditorMissing | None = None
    try:
        with screen.app.suspend():
            try:
                edit(file, screen.workspace.settings.editor, os.environ)
            except EditorMissing as error:
                missing = error
    except SuspendNotSupported:
        screen.notify(
            _("Cannot open an editor here. Edit {file} in another window, then press g.", file=file)[screen.lang],
            severity="warning",
        )
    if missing:
        screen.notify(missing.message[screen.lang], severity="error")
    screen.app.refresh(layout=True)
