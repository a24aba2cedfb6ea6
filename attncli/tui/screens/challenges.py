"""The list of challenges, by track, with the learner's status in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList

from attncli.domain.vocabulary import RUNGS, STANDING_NAMES, track_title
from attncli.i18n import N_, _, pgettext
from attncli.practice.challenges import STATES, ChallengeStatus, narrowed, standings
from attncli.tui.screens.base import AttnScreen
from attncli.tui.widgets.answers import Rows, row_width
from attncli.tui.widgets.basics import PassingField, Plain, TitleBar, left

_TRACK, _LEVEL, _STATUS = 14, 7, 17
_SIGNS = {"new": " ", "tried": "~", "solved": "✓", "hardened": "★"}


class NarrowingField(PassingField):
    """A field that filters the list while one types; Enter opens the first challenge, ↓ goes to the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.open_first", N_("Open"), key_display="Enter"),
        Binding("down", "screen.to_list", N_("List"), key_display="↓"),
    ]


class ChallengesScreen(AttnScreen):
    """The list. Enter opens the challenge under the cursor, t switches to the next track, / filters by words."""

    CSS_PATH = "challenges.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "next_track", N_("Next track")),
        Binding("slash", "narrow", N_("Search"), key_display="/"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.track: str | None = None
        self.words = ""
        self.found: list[ChallengeStatus] = []

    def title_bar(self) -> TitleBar:
        self.found = standings(self.workspace)
        return TitleBar(_("Challenges")[self.lang], self._track_name(), self._summary())

    def body(self) -> Iterable[Widget]:
        field = NarrowingField(
            self.words, placeholder=_("Search, or filter by is:{states}", states="|".join(STATES))[self.lang]
        )
        field.display = bool(self.words)
        yield field
        yield Plain("", id="columns")
        yield Rows(id="challenges")

    def focus_first(self) -> None:
        self.lay_out()
        self.query_one(Rows).focus()

    async def reload(self) -> None:
        self.found = standings(self.workspace)
        self.lay_out()

    def _summary(self) -> str:
        solved = sum(found.standing in RUNGS for found in self.found)
        return _("{solved} of {total} solved", solved=solved, total=len(self.found))[self.lang]

    def _track_name(self) -> str:
        return track_title(self.track)[self.lang] if self.track else _("All tracks")[self.lang]

    def lay_out(self) -> None:
        width = row_width(self.size.width)
        self.query_one(TitleBar).show(_("Challenges")[self.lang], self._track_name(), self._summary())
        self.query_one("#columns", Plain).update(self._heading(width))
        self.query_one(Rows).show_rows(list(self._rows(width)))

    def _listed(self) -> list[ChallengeStatus]:
        return narrowed((found for found in self.found if self.track in (None, found.challenge.track)), self.words)

    def _heading(self, width: int) -> Content:
        if not self._listed():
            return Content((_("No challenges match.") if self.found else _("There are no challenges."))[self.lang])
        wide = width - _TRACK - _LEVEL - _STATUS
        names = ((_("Challenge"), wide), (_("Track"), _TRACK), (_("Level"), _LEVEL))
        return Content.styled("".join(left(name[self.lang], size) for name, size in names), "$text-muted")

    def _rows(self, width: int) -> Iterator[tuple[str, Content]]:
        wide = width - _TRACK - _LEVEL - _STATUS
        for found in self._listed():
            challenge = found.challenge
            status = f"{_SIGNS[found.standing]} {STANDING_NAMES[found.standing][self.lang]}"
            due = " · " + pgettext("challenge", "due")[self.lang] if found.is_due else ""
            yield (
                challenge.id,
                Content.assemble(
                    left(challenge.title[self.lang], wide - 1),
                    " ",
                    (left(track_title(challenge.track)[self.lang], _TRACK), "$text-muted"),
                    (left(f"{challenge.level}/5", _LEVEL), "$text-muted"),
                    (left(status + due, _STATUS), "$success" if found.standing in RUNGS else ""),
                ),
            )

    def action_narrow(self) -> None:
        field = self.query_one(NarrowingField)
        field.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.words = event.value
        self.lay_out()

    def action_open_first(self) -> None:
        self.query_one(Rows).action_select()

    def action_to_list(self) -> None:
        self.query_one(Rows).enter()

    def action_leave_field(self) -> None:
        """Clear the filter and show the whole list."""
        field = self.query_one(NarrowingField)
        field.value, field.display = "", False
        self.query_one(Rows).focus()

    def action_back(self) -> None:
        if self.words:
            self.action_leave_field()
        else:
            super().action_back()

    def action_next_track(self) -> None:
        tracks = list(dict.fromkeys(found.challenge.track for found in self.found))
        order = [None, *tracks]
        self.track = order[(order.index(self.track) + 1) % len(order)]
        self.lay_out()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self.attn.show("challenge", event.option_id)
