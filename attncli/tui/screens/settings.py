"""Settings: the screen that lists and changes them, and the questions of the first run, which sets some of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList

from attncli.config import KEYS, LEVEL_CHOICES, SWITCHES, THEMES, Settings
from attncli.domain.vocabulary import RUNGS
from attncli.errors import AttnError, ConfigInvalid
from attncli.i18n import LANGS, N_, _
from attncli.practice.workspace import QUESTIONS, answer, change_setting, do_not_ask_again, saved_settings
from attncli.tui.screens.base import AttnScreen, error_text
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.basics import LineField, PassingField, Plain, TitleBar, left
from attncli.words.app_texts import say
from attncli.words.settings_texts import EXPLAINED, NAMES

CHOICES = {
    "lang": LANGS,
    "theme": THEMES,
    "rung": RUNGS,
    "level": LEVEL_CHOICES,
    **dict.fromkeys(SWITCHES, ("true", "false")),
}
_NAME = 26


class SettingRows(Rows):
    """Rows of settings; Enter takes the next value, or opens a field to type in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "screen.step(-1)", N_("Change"), show=False),
        Binding("right", "screen.step(1)", N_("Change"), show=False),
        Binding("enter,space", "select", N_("Change"), key_display="Enter"),
    ]


class SettingsScreen(AttnScreen):
    """The settings. `message`, the result of changing `changed_key`, is shown while the cursor is on that row."""

    CSS_PATH = Path(__file__).with_name("settings.tcss")

    saved: Settings
    message: Content = Content("")
    changed_key = ""

    def title_bar(self) -> TitleBar:
        return TitleBar(_("Settings")[self.lang], status=str(self.workspace.home.config))

    def body(self) -> Iterable[Widget]:
        self.saved = saved_settings(self.workspace)
        yield SettingRows(self._rows(), id="settings")
        field = PassingField(placeholder=_("Enter keeps it, Esc leaves it as it was")[self.lang])
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
        return say(f"settings.{value}", self.lang) if key in CHOICES else value

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

    def _problem(self, error: AttnError, text: str) -> str:
        """Return the message of an invalid value; in English the error's own, which says more."""
        if self.lang != "en" and isinstance(error, ConfigInvalid) and error.message.startswith(f"{self._key}: "):
            return _("“{value}” does not fit and was not kept; see above how it is written.", value=text)[self.lang]
        return error_text(error, self.lang)

    def _save(self, text: str) -> bool:
        """Save a value; if it is invalid, show why below, keep it in the field, and return False."""
        self.changed_key = key = self._key
        try:
            in_force = change_setting(self.workspace, key, text)
        except AttnError as error:
            self.message = Content.styled(f"✗ {self._problem(error, text)}", "$error")
        else:
            self.saved = saved_settings(self.workspace)
            text = say(_("Kept.") if in_force else _("Kept; schedules follow it when attn is started next."), self.lang)
            self.message = Content.styled(f"✓ {text}", "$success")
            self.query_one(SettingRows).show_rows(self._rows())
            self.attn.setting_changed(key)
        self._explain()
        return "✓" in self.message.plain


# The first run


EXAMPLE_DAYS = 30
"""Days from today to the interview date given as an example."""

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

    CSS_PATH = Path(__file__).with_name("first_run.tcss")
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
        with VerticalScroll(id="questions", can_focus=False):
            yield Plain(
                _("Four questions, then Home, where r starts. Enter takes what stands there.")[self.lang],
                classes="intro",
            )
            for key in QUESTIONS:
                with Horizontal():
                    yield Plain(NAMES[key][self.lang], classes="name")
                    yield self._field(key)
                yield Plain(say(f"first-run.{_word(key)}", self.lang, example=self._example()), classes="why")
                yield Plain("", id=f"wrong-{key}", classes="wrong")
            yield Plain(
                _("All of it can be changed later: press , on Home for the settings.")[self.lang], classes="later"
            )

    def _field(self, key: str) -> Widget:
        if key in CHOICES:
            return ChoiceField(self._shown(key), id=key)
        placeholder = _("empty for none")[self.lang] if key == "interview" else ""
        field = LastField if key == QUESTIONS[-1] else TypedField
        return field(self.values[key], placeholder=placeholder, id=key)

    def _shown(self, key: str) -> str:
        return f"‹ {say(f'settings.{self.values[key]}', self.lang)} ›"

    def _example(self) -> str:
        return f"{self.workspace.clock() + timedelta(days=EXAMPLE_DAYS):%Y-%m-%d}"

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
        self._show_problem(event.input.id or "", "")

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
        """Go to the next question, or from the last one to Home; stay at an invalid answer."""
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
        except ConfigInvalid:
            self._show_problem(key, say(f"first-run.wrong-{_word(key)}", self.lang, example=self._example()))
            return False
        except AttnError as error:
            self._show_problem(key, error_text(error, self.lang))
            return False
        return True

    def _show_problem(self, key: str, problem: str) -> None:
        for line in self.query(f"#wrong-{key}").results(Plain):
            line.update(f"✗ {problem}" if problem else "")


def _word(key: str) -> str:
    """Return the first word of a setting's name, which is its name in the text keys."""
    return key.partition("_")[0]
