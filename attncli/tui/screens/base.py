"""What every screen has: a title bar, a key bar, the language, and a friendly line where the terminal is too small."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from attncli.domain.card import Card
from attncli.domain.text import Lang, Localised
from attncli.errors import (
    AttnError,
    ClockWrong,
    ConfigInvalid,
    ExperimentFailed,
    JudgeFailed,
    NotFound,
    NothingFits,
    NoTorch,
    Outdated,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRemoved,
    StoreReplaced,
    StoreUnwritable,
    Unfit,
)
from attncli.practice.grade import WarmJudge
from attncli.practice.queue import Wish
from attncli.practice.workspace import Workspace
from attncli.tui.widgets.basics import Even, KeyBar, Plain, TitleBar, key_name, left
from attncli.words.app_texts import TEXTS, say
from attncli.words.in_chinese import told_in

if TYPE_CHECKING:
    from attncli.domain.mock_interview import MockReport
    from attncli.practice.mock import MockInterview


LEAST_WIDTH, LEAST_HEIGHT = 60, 18
READ_SECONDS = 0.01
"""Between two portions of a long reading, so that keys come in."""


def fits(size: Size) -> bool:
    """Whether a terminal is large enough for the screens."""
    return size.width >= LEAST_WIDTH and size.height >= LEAST_HEIGHT


class TooSmall(Plain):
    """Stands in for the screen in a terminal below 60×18."""


class AttnScreen(Even, Screen[None]):
    """Subclasses give `title_bar` and `body`; `focus_first` says where keys go after (re)composing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "key.back", key_display="Esc"),
        Binding("question_mark,fullwidth_question_mark,f1", "help", "key.help", key_display="?"),
    ]
    AUTO_FOCUS: ClassVar[str | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.composing = Lock()
        """Held by what changes the screen's parts: a key may compose it anew while a grading ends."""
        self._had_keys: Widget | None = None
        self._was_left = False

    @property
    def attn(self) -> Routes:
        return cast("Routes", self.app)

    @property
    def workspace(self) -> Workspace:
        return self.attn.workspace

    @property
    def lang(self) -> Lang:
        return self.attn.lang

    def question_of(self, card: str) -> Localised | None:
        """The question of a card, or None: links may name cards that are still to be written."""
        try:
            return self.workspace.library.card(card).listed
        except NotFound:
            return None

    def topic_title(self, id: str) -> str:
        return self.workspace.library.topic(id).title[self.lang]

    def kind_and_level(self, card: Card) -> str:
        return f"{say(f'review.kind-{card.kind}', self.lang)} · {say(f'review.level-{card.level}', self.lang)}"

    def title_bar(self) -> TitleBar:
        raise NotImplementedError

    def body(self) -> Iterable[Widget]:
        raise NotImplementedError

    def focus_first(self) -> None:
        """Called after composing; the default leaves the focus where it is."""

    async def look_again(self) -> None:
        """Called when the screen comes back after another one, which may have changed what it shows."""

    def lay_out(self) -> None:
        """Shows what depends on the size anew; called when that has changed."""

    def on_screen_suspend(self) -> None:
        self._was_left = True

    async def on_screen_resume(self) -> None:
        if self._was_left:
            self._was_left = False
            await self.look_again()

    def compose(self) -> ComposeResult:
        yield self.title_bar()
        yield from self.body()
        yield KeyBar(self.lang)
        yield TooSmall(classes="too-small")

    def on_mount(self) -> None:
        if self.AUTO_FOCUS is None:
            self.call_after_refresh(self._focus_what_is_there)

    def _focus_what_is_there(self) -> None:
        """Nothing while the screen is composed anew: the language was switched as soon as it had opened."""
        with suppress(NoMatches):
            self.focus_first()

    async def in_other_language(self) -> None:
        """The language has changed: everything is composed anew from the state of the screen."""
        async with self.composing:
            await self._compose_anew()

    async def _compose_anew(self) -> None:
        await self.recompose()
        self.focus_first()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        small = not fits(event.size)
        if small and not self.has_class("-too-small"):
            self._had_keys = self.focused
        elif not small and self._had_keys is not None:
            self.call_after_refresh(self._give_keys_back)
        self.set_class(small, "-too-small")
        with suppress(NoMatches):  # the screen may be composed anew just now
            if small:
                sizes = {"width": width, "height": height, "least_width": LEAST_WIDTH, "least_height": LEAST_HEIGHT}
                self.query_one(TooSmall).update(say("app.too-small", self.lang, **sizes))
            self.lay_out()

    def _give_keys_back(self) -> None:
        """To what had them before the terminal became too small: Textual takes them from whatever is hidden.

        As focus that the terminal itself had lost, it selects nothing: the next key goes on with what was typed.
        """
        widget, self._had_keys = self._had_keys, None
        if widget is not None and widget.is_attached and self.focused is None:
            self.set_focus(widget, from_app_focus=True)

    def action_back(self) -> None:
        self.attn.go_back()

    def action_help(self) -> None:
        self.attn.open_help(self)


# A question that wants yes or no.

_CHOICES = "[@click=screen.dismiss(True)]$yes[/]    [@click=screen.dismiss(False)]$no[/]"


class ConfirmScreen(ModalScreen[bool]):
    """y gives True; n and Escape give False."""

    CSS_PATH = Path(__file__).with_name("confirm.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "challenge.yes", show=False),
        Binding("n,escape,q", "dismiss(False)", "challenge.no", show=False),
    ]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self.question, self.yes, self.no = question, yes, no

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Plain(self.question)
            yield Plain(Content.from_markup(_CHOICES, yes=self.yes, no=self.no))


# Help: the keys of the screen below, in words.


class HelpScreen(ModalScreen[None]):
    """Escape, q or ? closes it."""

    CSS_PATH = Path(__file__).with_name("help.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,fullwidth_question_mark,enter,f1", "dismiss", "help.close", show=False)
    ]

    def __init__(self, below: Screen[Any], lang: Lang) -> None:
        super().__init__()
        self.below, self.lang = below, lang
        self._keys = self._found_keys()

    def compose(self) -> ComposeResult:
        lang = self.lang
        lines = [Content.assemble((left(key, 16), "bold $primary"), text) for key, text in self._keys]
        note = Content.styled(say("help.ime", lang), "$text-muted")
        with VerticalScroll():
            yield Plain(Content.styled(say("help.title", lang), "bold"), classes="title")
            yield Plain(Content("\n").join(lines))
            yield Plain(note, classes="note")
            yield Plain(Content.styled(say("help.close", lang), "$text-muted"))

    def _found_keys(self) -> list[tuple[str, str]]:
        """What the key bar names comes first."""
        found: dict[str, list[str]] = {}
        for active in sorted(self.below.active_bindings.values(), key=lambda active: not active.binding.show):
            binding = active.binding
            if binding.description in TEXTS and active.enabled:
                names = found.setdefault(say(binding.description, self.lang), [])
                names += [name for name in key_name(binding).split() if name not in names]
        return [(_joined(names), text) for text, names in found.items()]


def _joined(names: list[str]) -> str:
    """`1-4` stands for the four of them."""
    return next((name for name in names if "-" in name and len(name) > 1), " ".join(names[:3]))


# The ways between screens: what a screen may ask of the app, so that no screen knows the app or another screen.

Route = Literal[
    "home", "review", "drill", "quiz", "mock", "challenges", "search", "stats", "plan", "settings", "first-run"
]


class Routes(Protocol):
    """The app, as its screens see it; before it ends it calls `keep`, which tells whether what was typed is on disk."""

    workspace: Workspace
    rng: Random
    grader: WarmJudge
    lang: Lang
    keep: Callable[[], bool] | None

    def tell(self, error: AttnError) -> None: ...
    def telling(self) -> AbstractContextManager[None]: ...
    def open(self, route: Route) -> None: ...
    def open_review(self, topic: str | None = None, limit: int | None = None) -> None: ...
    def open_planned(self, cards: Sequence[str]) -> None: ...
    def open_drill(self, wish: Wish) -> None: ...
    def start_drill(self, wish: Wish) -> None: ...
    def open_quiz(self, topic: str | None = None) -> None: ...
    def show_interview(self, interview: MockInterview) -> None: ...
    def open_mock_report(self, report: MockReport) -> None: ...
    def open_challenge(self, id: str) -> None: ...
    def open_card(self, id: str, question_first: bool = False) -> None: ...
    def open_add_card(self, topic: str | None = None) -> None: ...
    def open_experiment(self, id: str) -> None: ...
    def setting_changed(self, key: str) -> None: ...
    def open_help(self, below: Screen[Any]) -> None: ...
    def go_back(self) -> None: ...


# What went wrong while the app runs, as one line in the learner's language.

# How long one try may keep the screen waiting for another process, how soon the next one follows, and how many.
BUSY_MILLISECONDS = 200
RETRY_SECONDS = 0.6
RETRIES = 25


_KEYS: dict[type[AttnError], str] = {
    StoreBusy: "fault.still-busy",
    StoreFull: "fault.full",
    StoreUnwritable: "fault.unwritable",
    StoreReplaced: "fault.replaced",
    StoreRemoved: "fault.removed",
    ClockWrong: "fault.clock",
    StoreCorrupt: "fault.damaged",
    StoreError: "fault.store",
    NothingFits: "fault.nothing-fits",
    NoTorch: "fault.no-torch",
    JudgeFailed: "fault.judge",
    ExperimentFailed: "fault.experiment",
    ConfigInvalid: "fault.config",
}


def fault_text(error: AttnError, lang: Lang) -> str:
    """The line that tells what was not stored, and what to do."""
    if isinstance(error, Outdated):
        return say(f"outdated.{error.reason}", lang)
    if isinstance(error, Unfit):
        return say(f"unfit.{error.reason}", lang, **error.parts)
    key = next((key for kind, key in _KEYS.items() if isinstance(error, kind)), "fault.other")
    return say(key, lang, message=told_in(lang, error.message))
