"""Settings: the screen that lists and changes them, and the questions of the first run, which sets some of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList

from attncli.config import EXPLAINED, KEYS, LEVEL_CHOICES, NAMES, SWITCHES, THEMES, Settings
from attncli.domain.dates import date_words, short_date
from attncli.domain.vocabulary import LEVEL_NAMES, LEVELS, RUNGS
from attncli.errors import AttnError, ConfigInvalid
from attncli.i18n import LANGS, N_, Localised, _, quoted
from attncli.practice.workspace import QUESTIONS, answer, change_setting, do_not_ask_again, saved_settings
from attncli.tui.screens.base import AttnScreen, error_text
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.basics import LineField, PassingField, Plain, TitleBar, left

_VALUES: dict[str, Localised] = {
    "true": _("yes"),
    "false": _("no"),
    "en": quoted("English"),
    "zh": quoted("中文"),
    "dark": _("dark"),
    "light": _("light"),
    "contrast": _("contrast"),
    "solved": _("solved"),
    "hardened": _("hardened"),
    "any": _("any"),
    **{level: LEVEL_NAMES[level] for level in LEVELS},
}
CHOICES = {
    "lang": LANGS,
    "theme": THEMES,
    "rung": RUNGS,
    "level": LEVEL_CHOICES,
    **dict.fromkeys(SWITCHES, ("true", "false")),
}
_NAME = 26


class SettingRows(Rows):
    """Rows of settings; Enter selects the next value, or opens a field to type in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.step(-1)", N_("Change"), show=False),
        Binding("right", "screen.step(1)", N_("Change"), show=False),
        Binding("enter,space", "select", N_("Change"), key_display="Enter"),
    ]


class SettingsScreen(AttnScreen):
    """The settings. `message`, the result of changing `changed_key`, is shown while the cursor is on that row."""

    CSS_PATH = "settings.tcss"

    saved: Settings
    message: Content = Content("")
    changed_key = ""

    def title_bar(self) -> TitleBar:
        return TitleBar(_("Settings")[self.lang], status=str(self.workspace.home.config))

    def body(self) -> Iterable[Widget]:
        self.saved = saved_settings(self.workspace)
        yield SettingRows(self._rows(), id="settings")
        field = PassingField(placeholder=_("Enter saves, Esc cancels")[self.lang])
        field.display = False
        yield field
        yield Plain("", id="explained")

    def focus_first(self) -> None:
        self.query_one(SettingRows).focus()
        self._explain()

    def _rows(self) -> list[tuple[str, Content]]:
        return [(key, self._row(key)) for key in KEYS]

    def _row(self, key: str) -> Content:
        value = self._value_text(key, self.saved.text(key))
        shown = f"‹ {value} ›" if key in CHOICES else value
        return Content.assemble((left(NAMES[key][self.lang], _NAME), "$text-muted"), shown)

    def _value_text(self, key: str, value: str) -> str:
        if not value:
            return _("none")[self.lang]
        if key == "interview" and value == self.saved.text(key) and self.saved.interview:
            return date_words(self.saved.interview)[self.lang]
        return _VALUES[value][self.lang] if key in CHOICES else value

    @property
    def _key(self) -> str:
        rows = self.query(SettingRows)
        row = rows.first().highlighted_option if rows else None
        return (row.id if row else None) or KEYS[0]

    def _explain(self) -> None:
        key = self._key
        default = _("Default: {value}.", value=self._value_text(key, Settings().text(key)))[self.lang]
        message = self.message if key == self.changed_key else Content("")
        lines = [Content(EXPLAINED[key][self.lang]), Content.styled(f"{default}  {key}", "$text-muted"), message]
        for explained in self.query("#explained").results(Plain):
            explained.update(Content("\n").join(line for line in lines if line))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._explain()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if self._key in CHOICES:
            self.action_step(1)
        else:
            self._type()

    def action_step(self, step: int) -> None:
        """Save the next value of a setting; do nothing for one that is typed."""
        if values := CHOICES.get(self._key):
            index = values.index(self.saved.text(self._key)) + step
            self._save(values[index % len(values)])

    def _type(self) -> None:
        field = self.query_one(PassingField)
        field.value = self.saved.text(self._key)
        field.display = True
        field.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self._save(event.value.strip()):
            self.action_leave_field()

    def action_leave_field(self) -> None:
        self.query_one(PassingField).display = False
        self.query_one(SettingRows).focus()

    def _save(self, text: str) -> bool:
        """Save a value; if it is invalid, show why below, keep it in the field, and return False."""
        self.changed_key = key = self._key
        try:
            in_force = change_setting(self.workspace, key, text)
        except AttnError as error:
            self.message = Content.styled(f"✗ {error_text(error, self.lang)}", "$error")
        else:
            self.saved = saved_settings(self.workspace)
            text = (_("Saved.") if in_force else _("Saved. Restart attn to apply it to schedules."))[self.lang]
            self.message = Content.styled(f"✓ {text}", "$success")
            self.query_one(SettingRows).show_rows(self._rows())
            self.attn.setting_changed(key)
        self._explain()
        return "✓" in self.message.plain


# The first run


EXAMPLE_DAYS = 30
"""Days from today to the interview date given as an example."""
_WHY: dict[str, Localised] = {
    "lang": _("Language of cards, screens and messages."),
    "interview": _("If you have one, e.g. {example} or in 3 weeks: attn plans for that day."),
    "level": _("Screen: first call. Onsite: full day. Cards up to your level come first."),
    "minutes_per_day": _("Daily study time; with no date, 30 minutes allow 10 new cards."),
}
_INVALID: dict[str, Localised] = {"minutes_per_day": _("Enter a whole number from 1 to 960.")}

_FIELD_KEYS: list[BindingType] = [
    Binding("up", "app.focus_previous", N_("Up"), show=False),
    Binding("down", "app.focus_next", N_("Down"), show=False),
]


class ChoiceField(Plain, can_focus=True):
    """A choice of a few values; the arrows change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "screen.step(1)", N_("Change"), key_display="←/→"),
        Binding("left", "screen.step(-1)", N_("Change"), show=False),
        Binding("enter", "screen.go_on", N_("Next question"), key_display="Enter"),
        *_FIELD_KEYS,
    ]


class TypedField(LineField):
    """A typed value."""

    SELECTS = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", N_("Next question"), key_display="Enter"),
        *_FIELD_KEYS,
    ]


class LastField(TypedField):
    """The typed value of the last question; Enter finishes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", N_("Finish"), key_display="Enter")]


class FirstRunScreen(AttnScreen):
    """The questions of the first run. `values` are those in the fields; Enter saves one, in the last field all."""

    CSS_PATH = "first_run.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", N_("Skip all"), key_display="Esc", priority=True),
        Binding("q", "back", N_("Skip all"), show=False),
    ]

    values: dict[str, str]
    at = QUESTIONS[0]

    def title_bar(self) -> TitleBar:
        if not hasattr(self, "values"):
            saved = saved_settings(self.workspace)
            self.values = {key: saved.text(key) for key in QUESTIONS}
        return TitleBar("attn", _("Welcome")[self.lang])

    def body(self) -> Iterable[Widget]:
        example = short_date(self.workspace.clock() + timedelta(days=EXAMPLE_DAYS))[self.lang]
        with VerticalScroll(id="questions", can_focus=False):
            yield Plain(
                _("Four questions, then press r to start. Enter accepts the value shown.")[self.lang], classes="intro"
            )
            for key in QUESTIONS:
                with Horizontal():
                    yield Plain(NAMES[key][self.lang], classes="name")
                    yield self._field(key)
                yield Plain(_WHY[key].format(example=example)[self.lang], classes="why")
                yield Plain("", id=f"wrong-{key}", classes="wrong")
            yield Plain(_("To change any of this later, press , on Home.")[self.lang], classes="later")

    def _field(self, key: str) -> Widget:
        if key in CHOICES:
            return ChoiceField(self._shown(key), id=key)
        placeholder = _("empty for none")[self.lang] if key == "interview" else ""
        field = LastField if key == QUESTIONS[-1] else TypedField
        return field(self.values[key], placeholder=placeholder, id=key)

    def _shown(self, key: str) -> str:
        return f"‹ {_VALUES[self.values[key]][self.lang]} ›"

    def focus_first(self) -> None:
        self.query_one(f"#{self.at}").focus()

    async def switch_language(self) -> None:
        self.values["lang"] = self.lang
        await super().switch_language()

    def on_descendant_focus(self) -> None:
        if self.focused is not None and self.focused.id in QUESTIONS:
            self.at = self.focused.id
            for row in self.query(Horizontal):
                row.set_class(self.focused.parent is row, "-at")

    def on_input_changed(self, event: Input.Changed) -> None:
        self.values[event.input.id or ""] = event.value.strip()
        self._show_below(event.input.id or "", "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Read the value and the focus from the event: with fast keys, their own events come after Enter."""
        self.at = event.input.id or self.at
        self.values[self.at] = event.value.strip()
        self.action_go_on()

    def action_step(self, step: int) -> None:
        """Switch to the next value of a choice."""
        key = self.at
        values = CHOICES[key]
        self.values[key] = values[(values.index(self.values[key]) + step) % len(values)]
        self.query_one(f"#{key}", Plain).update(self._shown(key))
        if key == "lang" and self._save(key):
            self.attn.setting_changed(key)

    def action_go_on(self) -> None:
        """Go to the next question, or from the last one to Home; stay if the answer is invalid."""
        index = QUESTIONS.index(self.at)
        is_last = index == len(QUESTIONS) - 1
        for key in QUESTIONS if is_last else (self.at,):
            if not self._save(key):
                self.set_focus(self.query_one(f"#{key}"))
                return
        if is_last:
            self.action_back()
        else:
            self.set_focus(self.query_one(f"#{QUESTIONS[index + 1]}"))

    def action_back(self) -> None:
        """Go to Home, and do not ask these questions again."""
        with self.attn.showing_errors():
            do_not_ask_again(self.workspace)
        self.attn.go_back()

    def _save(self, key: str) -> bool:
        try:
            answer(self.workspace, key, self.values[key])
        except AttnError as error:
            invalid = _INVALID.get(key) if isinstance(error, ConfigInvalid) else None
            self._show_below(key, f"✗ {invalid[self.lang] if invalid else error_text(error, self.lang)}")
            return False
        if key == "interview" and (day := self.workspace.settings.interview):
            self._show_below(key, f"✓ {date_words(day)[self.lang]}")
        return True

    def _show_below(self, key: str, text: str) -> None:
        for line in self.query(f"#wrong-{key}").results(Plain):
            line.update(text)
            line.set_class(text.startswith("✓"), "-right")
