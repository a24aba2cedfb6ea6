"""The settings screen: every setting with its value, explanation and default; changed in place and saved at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList

from attncli.config import KEYS, LEVEL_CHOICES, SWITCHES, THEMES, Settings
from attncli.domain.text import LANGS
from attncli.domain.vocabulary import RUNGS
from attncli.errors import AttnError, ConfigInvalid
from attncli.practice.workspace import change_setting, saved_settings
from attncli.tui.screens.base import AttnScreen, error_text
from attncli.tui.widgets.answers import Rows
from attncli.tui.widgets.basics import PassingField, Plain, TitleBar, left
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
        Binding("left", "screen.step(-1)", "key.change", show=False),
        Binding("right", "screen.step(1)", "key.change", show=False),
        Binding("enter,space", "select", "key.change", key_display="Enter"),
    ]


class SettingsScreen(AttnScreen):
    """The settings. `message`, the result of changing `changed_key`, is shown while the cursor is on that row."""

    CSS_PATH = Path(__file__).with_name("settings.tcss")

    saved: Settings
    message: Content = Content("")
    changed_key = ""

    def title_bar(self) -> TitleBar:
        return TitleBar(say("settings.title", self.lang), status=str(self.workspace.home.config))

    def body(self) -> Iterable[Widget]:
        self.saved = saved_settings(self.workspace)
        yield SettingRows(self._rows(), id="settings")
        field = PassingField(placeholder=say("settings.prompt", self.lang))
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
            return say("settings.none", self.lang)
        return say(f"settings.{value}", self.lang) if key in CHOICES else value

    @property
    def _key(self) -> str:
        rows = self.query(SettingRows)
        row = rows.first().highlighted_option if rows else None
        return (row.id if row else None) or KEYS[0]

    def _explain(self) -> None:
        key = self._key
        default = say("settings.default", self.lang, value=self._value_text(key, Settings().text(key)))
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
            return say("settings.unfit", self.lang, value=text)
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
            text = say("settings.kept" if in_force else "settings.from-next-start", self.lang)
            self.message = Content.styled(f"✓ {text}", "$success")
            self.query_one(SettingRows).show_rows(self._rows())
            self.attn.setting_changed(key)
        self._explain()
        return "✓" in self.message.plain
