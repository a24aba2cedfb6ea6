"""Widgets that every screen uses: text, containers, the title bar and the key bar, fields, and their messages.

Every text of the app is a `Plain`, never mark-up. To shorten the time from key to screen, containers draw one line and
repeat it (`SolidBackground`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment, Segments
from textual import events
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import Screen
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Input, Static

from attncli.domain.log_row import Rating
from attncli.domain.text import printable
from attncli.errors import JudgeFailed
from attncli.i18n import N_, Lang, _

if TYPE_CHECKING:
    from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport

# Text


class Plain(Static):
    """Show a string literally: brackets are brackets, and nothing in it can be clicked."""

    def __init__(self, content: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_content(content), markup=False, id=id, classes=classes)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        super().update(_content(content), layout=layout)


def heading(text: str) -> Plain:
    """Return a heading; the style sheet of the screen decides how it looks."""
    return Plain(text, classes="heading")


def _content(content: VisualType) -> VisualType:
    return Content(printable(content)) if isinstance(content, str) else content


class ErrorLine(Plain):
    """An error above the rating buttons; the card stays on the screen."""

    DEFAULT_CSS = """
    ErrorLine { height: auto; width: 1fr; padding: 0 1; color: $warning; text-style: bold; }
    """

    def __init__(self, text: str) -> None:
        super().__init__(f"! {text}")


# Layout in terminal cells: a Chinese character takes two

LEAST_BESIDE = 10


def cut(text: str, width: int) -> str:
    """Return `text` in at most `width` cells, ending in `…` if it was cut."""
    text = printable(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


def left(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells, aligned left."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def right(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells, aligned right."""
    text = cut(text, width)
    return " " * (width - cell_len(text)) + text


def beside(head: Content, text: Content, width: int) -> list[Content]:
    """Return lines of `head` with `text` wrapped in a column to its right, `width` cells in all."""
    first, *more = text.wrap(max(LEAST_BESIDE, width - head.cell_length)) or [Content()]
    return [head + first, *(Content(" " * head.cell_length) + line for line in more)]


def bar(share: float, width: int, style: str) -> Content:
    """Return a bar of `width` cells, filled for `share` in 0…1; any share above 0 shows, only 1 fills it."""
    filled = round(min(1.0, max(0.0, share)) * width)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(width - 1, filled)
    return Content.assemble(("━" * filled, style), ("─" * (width - filled), "$text-muted"))


# Containers


class LineWidget(Widget):
    """A widget drawn line by line, as high as the `lines` that its subclass returns for a width."""

    DEFAULT_CSS = "LineWidget { height: auto; width: 1fr; }"

    def lines(self, width: int) -> list[Content]:
        raise NotImplementedError

    def render(self) -> Content:
        return Content("\n").join(self.lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))


class SolidBackground:
    """Draw one line of a container and repeat it; for containers without a border above or below."""

    def render_lines(self, crop: Region) -> list[Strip]:
        line = super().render_lines(Region(crop.x, 0, crop.width, 1))  # type: ignore[misc]
        return cast("list[Strip]", line) * crop.height


class PageBar(ScrollBarRender):
    """A scroll bar that ends in `▼` while the page goes on below the last line that is shown."""

    @classmethod
    def render_bar(cls, *_none: Any, **values: Any) -> Segments:
        bar = super().render_bar(**values)
        if values["window_size"] and round(values["position"] + values["window_size"]) < values["virtual_size"]:
            bar.segments[-1] = Segment("▼", bar.segments[-1].style)
        return bar


class Page(SolidBackground, VerticalScroll, can_focus=True):
    """A long text that scrolls with the arrows, Page up and down, j and k, and the wheel."""

    DEFAULT_CSS = """
    Page { height: 1fr; padding: 1 2 0 2; scrollbar-gutter: stable; }
    Page > Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", N_("Down"), show=False, key_display="↓ j"),
        Binding("k", "scroll_up", N_("Up"), show=False, key_display="↑ k"),
    ]

    def on_mount(self) -> None:
        self.vertical_scrollbar.renderer = PageBar  # type: ignore[misc]

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Restyle the page alone: Textual would restyle everything in it."""
        self.app.stylesheet.update_nodes([self])


class Fold(Vertical):
    """A collapsible part of a text. Its title names the key that opens it; a click on the title also works."""

    DEFAULT_CSS = """
    Fold { height: auto; margin: 0 0 1 0; }
    Fold > .heading { height: auto; }
    """

    @dataclass
    class Turned(Message):
        """Posted when it was opened or closed."""

        unfolded: bool

    def __init__(self, title: str, content: Widget, lang: Lang, unfolded: bool) -> None:
        super().__init__()
        self.title = title
        self.content = content
        self.lang: Lang = lang
        self.unfolded = unfolded

    def compose(self) -> ComposeResult:
        self.content.display = self.unfolded
        yield heading(self._heading())
        yield self.content

    def _heading(self) -> str:
        text = (
            _("▾ {title}: extra requirements for production (x hides them)", title=self.title)
            if self.unfolded
            else _("▸ {title}: extra requirements for production (x shows them)", title=self.title)
        )
        return text[self.lang]

    def turn(self) -> None:
        """Open it, with its title scrolled to the top, or close it."""
        self.unfolded = self.content.display = not self.unfolded
        self.query_one(".heading", Plain).update(self._heading())
        self.post_message(self.Turned(self.unfolded))
        if self.unfolded:
            self.call_after_refresh(self.scroll_visible, top=True, animate=False)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self.query_one(".heading"):
            self.turn()


# The title bar and the key bar


class TitleBar(Widget):
    """The top line: `title` in bold, `detail` beside it, `status` at the right edge. A long title is cut first."""

    DEFAULT_CSS = """
    TitleBar { dock: top; height: 1; width: 1fr; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, title: str, detail: str = "", status: str = "") -> None:
        super().__init__()
        self.title, self.detail, self.status = title, detail, status

    def show_status(self, status: str) -> None:
        self.show(self.title, self.detail, status)

    def show(self, title: str, detail: str = "", status: str = "") -> None:
        self.title, self.detail, self.status = title, detail, status
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        beside = cell_len(self.detail) + cell_len(self.status) + 4
        title = cut(self.title, max(width - beside, min(cell_len(self.title), 12)))
        status = cut(self.status, max(0, width - cell_len(title) - 1))
        detail = cut(self.detail, max(0, width - cell_len(title) - cell_len(status) - 3))
        gap = " " * max(1, width - cell_len(title) - cell_len(detail) - cell_len(status) - 2)
        return Content.assemble((title, "bold $primary"), "  ", detail, gap, (status, "$text-muted"))


_KEY_NAMES = {
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
    "Help": 0,
    **dict.fromkeys(("Back", "Home", "Quit"), 2),
    "中文": 3,
    "Open": 4,
    **dict.fromkeys(("Plan", "Settings", "Add a card", "Your case", "Repair"), 5),
    "Hardening requirements": 6,
}
_ALWAYS = ("Help", "Back", "Save and back", "Home", "Quit")
_DROPPED_FIRST = 4
"""Keys of this rank or above are left out before help is shortened."""
_WIDE_GAP, _NARROW_GAP = 2, 1


def shown_bindings(screen: Screen[object]) -> list[tuple[str, Binding]]:
    """Return the (key name, binding) pairs that a key bar shows, nearest widget first.

    Each action and each key name occurs once. A second name of a key (q is written Esc) is left out where the first
    does something else, as in a field.
    """
    found: dict[str, tuple[str, Binding]] = {}
    for active in screen.active_bindings.values():
        binding, name = active.binding, key_name(active.binding)
        if not (binding.show and active.enabled and is_own(active)):
            continue
        if name not in {named for named, _ in found.values()}:
            found.setdefault(binding.action, (name, binding))
    return list(found.values())


def is_own(active: ActiveBinding) -> bool:
    """Return True if the app defines the binding: the descriptions of Textual's own are not translated."""
    return active.binding in _own_bindings(type(active.node))


@cache
def _own_bindings(kind: type) -> frozenset[Binding]:
    classes = [base for base in kind.__mro__ if not base.__module__.startswith("textual.")]
    return frozenset(binding for base in classes for binding in Binding.make_bindings(vars(base).get("BINDINGS", ())))


def key_name(binding: Binding) -> str:
    """Return how a key is written: `Enter`, `/`, `Shift+↑`. F1 is not `?`, which a field takes as a character."""
    if binding.key_display and binding.key != "f1":
        return binding.key_display
    *modifiers, key = binding.key.split("+")
    return "+".join(
        [*(modifier.title() for modifier in modifiers), _KEY_NAMES.get(key, key.upper() if modifiers else key)]
    )


class KeyBar(Widget):
    """The bottom line: the keys that work now, in the learner's language; a click on one presses it.

    Shows as many as fit, help and the way back always. If space is short, the gaps shrink, then keys of a high rank
    number are dropped, then help is shown as its key alone.
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
        self.screen.bindings_updated_signal.subscribe(self, self._on_bindings_updated)

    def _on_bindings_updated(self, _screen: Screen[object]) -> None:
        if self._sorted_keys() != self._drawn:
            self.refresh()

    def render(self) -> Content:
        named = self._drawn = self._sorted_keys()
        pieces = [self._piece(name, binding) for name, binding in named]
        gap = _WIDE_GAP if _cells(pieces, _WIDE_GAP) <= self.size.width else _NARROW_GAP
        while _cells(pieces, gap) > self.size.width and pieces and _rank(named[len(pieces) - 1]) >= _DROPPED_FIRST:
            del pieces[-1]
        required = [binding.description in _ALWAYS for _name, binding in named[: len(pieces)]]
        if _cells(pieces, gap) > self.size.width and named[0][1].description == "Help":
            pieces[0] = self._piece(*named[0], text="")
        while _cells(pieces, gap) > self.size.width and not all(required):
            last = max(place for place, is_required in enumerate(required) if not is_required)
            del pieces[last], required[last]
        if pieces and named[0][1].description == "Help":
            whole = [self._piece(*named[0]), *pieces[1:]]
            pieces = whole if _cells(whole, gap) <= self.size.width else pieces
        return Content(" ") + Content("").join(piece + " " * gap for piece in pieces)

    def _piece(self, name: str, binding: Binding, text: str | None = None) -> Content:
        label = _(binding.description)[self.lang] if text is None else text
        press = f"@click=app.simulate_key('{binding.key}')"
        if not label:
            return Content.from_markup(f"[{press}][b $primary]$name[/][/]", name=name)
        return Content.from_markup(f"[b $primary]$name[/] [{press}]$text[/]", name=name, text=label)

    def _sorted_keys(self) -> list[tuple[str, Binding]]:
        return sorted(shown_bindings(self.screen), key=_rank)


def _rank(named: tuple[str, Binding]) -> int:
    return _RANKS.get(named[1].description, 1)


def _cells(pieces: Sequence[Content], gap: int) -> int:
    return 1 + sum(piece.cell_length for piece in pieces) + gap * (len(pieces) - 1)


# Fields


class KeysInOrder:
    """Mixed into a field: run its own bindings at once, in the order in which keys were pressed.

    Textual handles a character in the field, but Backspace, the arrows and Enter only after the event has bubbled up
    to the app. Keys that arrive together, as over a slow line, would overtake each other: `a Backspace b` became `a`.
    """

    async def on_key(self, event: events.Key) -> None:
        field = cast(Widget, self)
        for binding in field._bindings.key_to_bindings.get(event.key, ()):
            is_own = not binding.priority and "." not in binding.action
            if is_own and await field.app.run_action(binding.action, field):
                event.stop()
                event.prevent_default()
                return


class LineField(KeysInOrder, Input):
    """A field for one line, which also takes `-` and `/`: Textual does not count them as characters.

    Focus selects nothing, so that the next key replaces nothing, unless a subclass that offers a value sets `SELECTS`.
    """

    SELECTS: ClassVar[bool] = False

    def __init__(self, value: str = "", **options: Any) -> None:
        super().__init__(value, select_on_focus=self.SELECTS, **options)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return super().check_consume_key(key, character) or key in ("minus", "slash")


class PassingField(LineField):
    """A field shown for one entry; Escape leaves it, and the screen's `leave_field` hides it."""

    SELECTS = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.leave_field", N_("Leave the field"), key_display="Esc")
    ]


# Messages from widgets and workers to their screen


class Answered(Message):
    """The learner submitted the answer in a widget."""


class PointsTicked(Message):
    """A point was ticked or unticked."""


@dataclass
class Rated(Message):
    """A rating was chosen with the mouse."""

    rating: Rating


@dataclass
class CheckChanged(Message):
    """A check began or ended in the judge: its name, status and message."""

    check: CheckResult


@dataclass
class Graded(Message):
    """The judge has reported."""

    report: GradeReport


@dataclass
class GradingFailed(Message):
    """There is no verdict: the judge failed, or the grading was cancelled."""

    error: JudgeFailed


@dataclass
class Tried(Message):
    """Both answers to a case that the learner typed, or the error that prevented them."""

    answers: BothAnswers | JudgeFailed


# Mounting


async def mount_in(place: Widget, parts: Iterable[Widget], before: int | None = None) -> None:
    """Mount `parts` in `place`, unless a key pressed meanwhile has removed it."""
    if place.is_attached:
        await place.mount(*parts, before=before)


async def mount_anew(place: Widget, parts: Iterable[Widget]) -> None:
    """Replace the children of `place` by `parts`, and draw once."""
    with place.app.batch_update():
        await place.remove_children()
        await mount_in(place, parts)
