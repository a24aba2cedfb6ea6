"""The drill screen, to choose cards by topic, kind, level and weakness, and its base `OptionsScreen`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList

from attncli.domain.vocabulary import KIND_NAMES, KINDS, LEVEL_NAMES, LEVELS
from attncli.i18n import N_, Localised, _, ngettext
from attncli.practice.queue import CardFilter, default_level, matching_cards, without
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import Plain, TitleBar, left

START = "start"
"""The id of the row that starts."""

W = TypeVar("W")


class OptionRows(Rows):
    """Rows of options; Enter or a click takes the next value of a row, and starts on the first row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.change(-1)", N_("Change"), show=False),
        Binding("right", "screen.change(1)", N_("Change"), key_display="←/→"),
        Binding("enter,space", "select", N_("Change"), show=False),
    ]


class OptionsScreen(AttnScreen, Generic[W]):
    """A screen on which a session is chosen. `FIELDS` names those of `options`, a frozen dataclass: rows of values."""

    FIELDS: ClassVar[Mapping[str, Localised]]
    NAME_CELLS: ClassVar[int] = 22

    options: W

    @abstractmethod
    def rows(self) -> list[tuple[str, Content]]: ...

    @abstractmethod
    def values(self, name: str) -> Sequence[Any]:
        """Return the values of a row, in order."""

    @abstractmethod
    def value_text(self, name: str, value: Any) -> str: ...

    def focus_first(self) -> None:
        self.query_one(Rows).focus()

    def row(self, name: str) -> Content:
        value, label = getattr(self.options, name), left(self.FIELDS[name][self.lang], self.NAME_CELLS)
        switch = (_("yes") if value else _("no"))[self.lang]
        text = switch if isinstance(value, bool) else self.value_text(name, value)
        return Content.assemble("  ", (label, "$text-muted"), f"‹ {text} ›")

    def action_change(self, step: int) -> None:
        row = self.query_one(Rows).highlighted_option
        if row is not None and row.id in self.FIELDS:
            self.change(str(row.id), step)

    def change(self, name: str, step: int) -> None:
        values = self.values(name)
        place = values.index(getattr(self.options, name)) + step
        self.options = self.options._replace(**{name: values[place % len(values)]})  # type: ignore[attr-defined]
        self.refresh_rows()

    def refresh_rows(self) -> None:
        self.query_one(Rows).show_rows(self.rows())


COUNTS = (5, 10, 20, 50, 100)


class DrillScreen(OptionsScreen[CardFilter]):
    """The options of a drill."""

    CSS_PATH = "drill.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("s", "start", N_("Start"))]
    FIELDS: ClassVar = {
        "topic": _("Topic"),
        "kind": _("Kind"),
        "level": _("Up to level"),
        "must_know": _("Must-know cards only"),
        "weak": _("Weak cards only"),
        "count": _("At most"),
        "cram": _("Cram"),
    }

    def __init__(self, card_filter: CardFilter | None = None) -> None:
        super().__init__()
        self.options = card_filter or CardFilter(level=default_level(self.workspace))

    def title_bar(self) -> TitleBar:
        return TitleBar(_("Drill")[self.lang])

    def body(self) -> Iterable[Widget]:
        yield OptionRows(self.rows(), id="filter")
        yield Plain(
            _(
                "Answers count as reviews and change the schedule; a cram records nothing. Weak cards are likely "
                "forgotten today, often forgotten, or missed last time. Suspended and buried cards are left out."
            )[self.lang],
            id="note",
        )

    def rows(self) -> list[tuple[str, Content]]:
        return [(START, self._start_row()), *((name, self.row(name)) for name in self.FIELDS)]

    def _start_row(self) -> Content:
        lang = self.lang
        if count := len(matching_cards(self.workspace, self.options)):
            asked = min(self.options.count, count)
            text = _("▶ Start: {asked} of {count} matching cards", asked=asked, count=count)[lang]
            return Content.styled(text, "bold $primary")
        counts = without(self.workspace, self.options)
        hints = [
            _("{count} without “{name}”", name=self.FIELDS[name.replace("-", "_")], count=n)[lang]
            for name, n in counts.items()
        ]
        line = Content.assemble((_("✗ No card matches.")[lang], "bold $warning"), " ", " · ".join(hints))
        return line.truncate(row_width(self.app.size.width), ellipsis=True)

    def value_text(self, name: str, value: Any) -> str:
        lang = self.lang
        if name == "count":
            return ngettext("{count} card", "{count} cards", value)[lang]
        if name == "topic":
            return self.topic_title(value) if value else _("All topics")[lang]
        names: Mapping[Any, Localised] = KIND_NAMES if name == "kind" else LEVEL_NAMES
        return (names[value] if value else _("any"))[lang]

    def values(self, name: str) -> Sequence[Any]:
        match name:
            case "topic":
                return [None, *(topic.id for topic in self.workspace.library.topics())]
            case "kind":
                return [None, *KINDS]
            case "level":
                return [None, *LEVELS]
            case "count":
                return sorted({*COUNTS, self.options.count})
        return [False, True]

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id == START:
            self.action_start()
        elif event.option_id is not None:
            self.change(event.option_id, 1)

    def action_start(self) -> None:
        """Start the drill; if nothing fits, the first row already says so."""
        if matching_cards(self.workspace, self.options):
            self.attn.show("review", card_filter=self.options, replace=True)
        else:
            self.refresh_rows()
