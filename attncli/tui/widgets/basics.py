"""The bottom line: the keys that do something here, in the learner's language; clicking one presses it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Input, Static

from attncli.domain.grade_report import BothAnswers, CheckResult, GradeReport
from attncli.domain.log_row import Rating
from attncli.domain.text import Lang, printable
from attncli.errors import JudgeFailed
from attncli.words.app_texts import TEXTS, say

# Text as it stands: brackets in it are brackets, and nothing in it can be clicked.


class Plain(Static):
    """Textual reads a string as mark-up unless told otherwise; this one is told, and every text of the app is one."""

    def __init__(self, content: str | Content = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(_content(content), markup=False, id=id, classes=classes)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        super().update(_content(content), layout=layout)


def heading(text: str) -> Plain:
    """A line over what follows; how it looks is for the style sheet of the screen."""
    return Plain(text, classes="heading")


def _content(content: VisualType) -> VisualType:
    return Content(printable(content)) if isinstance(content, str) else content


# What is drawn line by line, and is as high as its lines are many at the width that it is given.


class Lined(Widget):
    """Subclasses give their `lines`."""

    def lines(self, width: int) -> list[Content]:
        raise NotImplementedError

    def render(self) -> Content:
        return Content("\n").join(self.lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.lines(width))


# Containers whose lines are all alike, a screen, a page, a group of widgets: one line is drawn for all of them.


class Even:
    """Mixed into a container without a border above or below."""

    def render_lines(self, crop: Region) -> list[Strip]:
        line = super().render_lines(Region(crop.x, 0, crop.width, 1))  # type: ignore[misc]
        return cast("list[Strip]", line) * crop.height


# What a key will show, laid out and drawn beforehand: the key only uncovers it.
#
# A widget that is mounted, or displayed for the first time, is styled, laid out twice and drawn twice by Textual.
# Covered (no lines high, and what it holds clipped) it has its place and its size already; neither a key nor Tab finds
# it there.

MOST_LINES, AT_A_STEP = 60, 4
"""What is drawn ahead: more than most terminals show at once, so many widgets at a step."""
STEPS_TO_LAY_OUT = 2

Parts = Iterable[Widget]


class Behind(Even, Vertical):
    """Parts that are shown together once they are uncovered; `steps` mounts the groups that are still `coming`."""

    DEFAULT_CSS = "Behind { height: auto; width: 1fr; }"

    def __init__(self, *parts: Widget, covered: bool = True, coming: Iterable[Parts] = ()) -> None:
        super().__init__(*parts)
        self._coming = iter(coming)
        self.is_covered = covered
        if covered:
            self.styles.height = 0

    def allow_focus_children(self) -> bool:
        return not self.is_covered and super().allow_focus_children()

    def complete(self) -> None:
        """Mounts what no step has mounted yet."""
        if rest := [part for group in self._coming for part in group]:
            self.mount_all(rest)

    def cover(self, covered: bool) -> None:
        if covered is not self.is_covered:
            self.is_covered = covered
            self.styles.height = 0 if covered else "auto"

    def steps(self) -> Iterator[None]:
        """Mounts a group at each step, then draws some widgets at each: Textual keeps what it drew."""
        for group in self._coming:
            if not self.is_attached:
                return
            self.mount_all(group)
            yield
        for _ in range(STEPS_TO_LAY_OUT):
            yield
        for number, widget in enumerate(self._first_drawn()):
            if widget.is_attached:
                widget.render_lines(Region(0, 0, *widget.outer_size))
            if number % AT_A_STEP == 0:
                yield

    def _first_drawn(self) -> Iterator[Widget]:
        left = MOST_LINES
        for widget in self.walk_children(Widget):
            if not widget.children and widget.outer_size and left > 0:
                left -= widget.outer_size.height
                yield widget


# Something long to read.


class Page(Even, VerticalScroll, can_focus=True):
    """Scrolls with the arrows, Page up and down, j and k, and the wheel."""

    DEFAULT_CSS = """
    Page { height: 1fr; padding: 1 2 0 2; scrollbar-gutter: stable; }
    Page > Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "key.down", show=False, key_display="↓ j"),
        Binding("k", "scroll_up", "key.up", show=False, key_display="↑ k"),
    ]

    def watch_has_focus(self, _has_focus: bool) -> None:
        """It looks different itself when it gets the keys; Textual would style all that it holds anew."""
        self.app.stylesheet.update_nodes([self])


# A part of a text that is folded away under its title.


class Fold(Vertical):
    """Its title says how to open it; a click on the title does as well."""

    DEFAULT_CSS = """
    Fold { height: auto; margin: 0 0 1 0; }
    Fold > .heading { height: auto; }
    """

    @dataclass
    class Turned(Message):
        """It was opened or closed."""

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
        return say("challenge.fold" if self.unfolded else "challenge.unfold", self.lang, title=self.title)

    def turn(self) -> None:
        """Opens it, with its title at the top of what is seen, or closes it."""
        self.unfolded = self.content.display = not self.unfolded
        self.query_one(".heading", Plain).update(self._heading())
        self.post_message(self.Turned(self.unfolded))
        if self.unfolded:
            self.call_after_refresh(self.scroll_visible, top=True, animate=False)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self.query_one(".heading"):
            self.turn()


# The top line: where one is on the left, how things stand on the right.


class TitleBar(Widget):
    """`title` in bold, `detail` beside it, `status` at the right edge; a long title gives way first."""

    DEFAULT_CSS = """
    TitleBar { dock: top; height: 1; width: 1fr; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self, title: str, detail: str = "", status: str = "") -> None:
        super().__init__()
        self.title, self.detail, self.status = title, detail, status

    def show_status(self, status: str) -> None:
        self.status = status
        self.refresh()

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


_NAMES = {
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
    "key.help": 0,
    **dict.fromkeys(("key.back", "key.home", "key.quit"), 2),
    "key.language": 3,
    "key.open": 4,
    **dict.fromkeys(("key.plan", "key.settings", "key.add-card"), 5),
}
_ALWAYS = ("key.help", "key.back", "key.save-and-back", "key.home", "key.quit")
_WHERE_ROOM = 4
_WIDE_GAP, _NARROW_GAP = 2, 1


def shown_bindings(screen: Screen[object]) -> list[tuple[str, Binding]]:
    """The bindings in force that a key bar names, nearest first, each action and each name of a key once.

    Their descriptions are text keys. A second name of a key (q is written Esc) is left out where the first does
    something else, as in a field.
    """
    found: dict[str, tuple[str, Binding]] = {}
    for active in screen.active_bindings.values():
        binding, name = active.binding, key_name(active.binding)
        if not (binding.show and active.enabled and binding.description in TEXTS):
            continue
        if name not in {named for named, _ in found.values()}:
            found.setdefault(binding.action, (name, binding))
    return list(found.values())


def key_name(binding: Binding) -> str:
    """How a key is written: `Enter`, `/`, `Shift+↑`; F1 is not `?`, which a field takes as a character."""
    if binding.key_display and binding.key != "f1":
        return binding.key_display
    *modifiers, key = binding.key.split("+")
    return "+".join([*(modifier.title() for modifier in modifiers), _NAMES.get(key, key.upper() if modifiers else key)])


class KeyBar(Widget):
    """Follows the bindings in force: as many as fit, closer together if they must be; help and the way back always.

    Where it is tight, what has a low rank goes first; then help is its key alone.
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
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _: Screen[object]) -> None:
        if self._named() != self._drawn:
            self.refresh()

    def render(self) -> Content:
        named = self._drawn = self._named()
        pieces = [self._piece(name, binding) for name, binding in named]
        gap = _WIDE_GAP if _cells(pieces, _WIDE_GAP) <= self.size.width else _NARROW_GAP
        while _cells(pieces, gap) > self.size.width and pieces and _rank(named[len(pieces) - 1]) >= _WHERE_ROOM:
            del pieces[-1]
        least = [binding.description in _ALWAYS for _, binding in named[: len(pieces)]]
        if _cells(pieces, gap) > self.size.width and named[0][1].description == "key.help":
            pieces[0] = self._piece(*named[0], text="")
        while _cells(pieces, gap) > self.size.width and not all(least):
            last = max(place for place, is_always in enumerate(least) if not is_always)
            del pieces[last], least[last]
        if pieces and named[0][1].description == "key.help":
            whole = [self._piece(*named[0]), *pieces[1:]]
            pieces = whole if _cells(whole, gap) <= self.size.width else pieces
        return Content(" ") + Content("").join(piece + " " * gap for piece in pieces)

    def _piece(self, name: str, binding: Binding, text: str | None = None) -> Content:
        said = say(binding.description, self.lang) if text is None else text
        press = f"@click=app.simulate_key('{binding.key}')"
        if not said:
            return Content.from_markup(f"[{press}][b $primary]$name[/][/]", name=name)
        return Content.from_markup(f"[b $primary]$name[/] [{press}]$text[/]", name=name, text=said)

    def _named(self) -> list[tuple[str, Binding]]:
        return sorted(shown_bindings(self.screen), key=_rank)


def _rank(named: tuple[str, Binding]) -> int:
    return _RANKS.get(named[1].description, 1)


def _cells(pieces: Sequence[Content], gap: int) -> int:
    return 1 + sum(piece.cell_length for piece in pieces) + gap * (len(pieces) - 1)


# Laying text out in cells: a Chinese character takes two.

LEAST_BESIDE = 10


def cut(text: str, width: int) -> str:
    """`text` in at most `width` cells, with `…` where something was left out."""
    text = printable(text)
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…" if width > 0 else ""


def left(text: str, width: int) -> str:
    """`text` in exactly `width` cells, aligned left."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def right(text: str, width: int) -> str:
    """`text` in exactly `width` cells, aligned right."""
    text = cut(text, width)
    return " " * (width - cell_len(text)) + text


def beside(head: Content, text: Content, width: int) -> list[Content]:
    """`head`, and `text` in the room beside it: in as many lines as it takes, none of them below `head`."""
    first, *more = text.wrap(max(LEAST_BESIDE, width - head.cell_length)) or [Content()]
    return [head + first, *(Content(" " * head.cell_length) + line for line in more)]


def bar(share: float, width: int, style: str) -> Content:
    """A bar of `width` cells, filled for `share` in 0…1; any share above 0 shows, only 1 fills it."""
    filled = round(min(1.0, max(0.0, share)) * width)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(width - 1, filled)
    return Content.assemble(("━" * filled, style), ("─" * (width - filled), "$text-muted"))


# Why the last key changed nothing.


class FaultLine(Plain):
    """One line above the ratings; the card stays where it is."""

    DEFAULT_CSS = """
    FaultLine { height: auto; width: 1fr; padding: 0 1; color: $warning; text-style: bold; }
    """

    def __init__(self, text: str) -> None:
        super().__init__(f"! {text}")


# The events that widgets send to their screen.


class Answered(Message):
    """The learner submitted what stands in an answer widget."""


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
    """The judge's report is there."""

    report: GradeReport


@dataclass
class GradingFailed(Message):
    """There is no verdict: the judge failed, or the grading was cancelled."""

    error: JudgeFailed


@dataclass
class Tried(Message):
    """Both answers to a case that the learner typed, or what kept them from coming."""

    answers: BothAnswers | JudgeFailed


# Putting widgets where a screen may have been left since: while one waited, a key pressed ahead took it away.


async def mount_in(place: Widget, parts: Iterable[Widget], before: int | None = None) -> None:
    """Mounts `parts` in `place`, if that is still shown."""
    if place.is_attached:
        await place.mount(*parts, before=before)


async def mount_anew(place: Widget, parts: Iterable[Widget]) -> None:
    """Mounts `parts` in the place of all that `place` holds, and draws it once."""
    with place.app.batch_update():
        await place.remove_children()
        await mount_in(place, parts)


# Keys of a field in the order in which they were pressed.
#
# Textual handles a character in the field, but Backspace, the arrows and Enter only after the event has gone up to the
# app. Keys that arrive together, as over a slow line, would overtake each other: `a Backspace b` would become `a`.


class KeysInOrder:
    """Mixed into a field, it does what its own bindings say at once; those of the screen and the app stay theirs."""

    async def on_key(self, event: events.Key) -> None:
        field = cast(Widget, self)
        for binding in field._bindings.key_to_bindings.get(event.key, ()):
            is_own = not binding.priority and "." not in binding.action
            if is_own and await field.app.run_action(binding.action, field):
                event.stop()
                event.prevent_default()
                return


# One line that is typed, every printable sign of it.


class LineField(KeysInOrder, Input):
    """`-` and `/` are typed; Textual does not count them as characters.

    Focus selects nothing, so that the next key replaces nothing; a field that offers a value may have it selected.
    """

    SELECTS: ClassVar[bool] = False

    def __init__(self, value: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(value, placeholder=placeholder, id=id, select_on_focus=self.SELECTS)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return super().check_consume_key(key, character) or key in ("minus", "slash")


class PassingField(LineField):
    """A field that comes up for one line; Escape leaves it, and the screen's `leave_field` takes it away."""

    SELECTS = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.leave_field", "key.leave-field", key_display="Esc")
    ]
