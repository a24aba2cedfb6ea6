"""The app's own editor: a solution beside its statement, highlighted, saved while it is written and on leaving."""

from __future__ import annotations

import re
from functools import partial
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import TextArea

from attncli.errors import AttnError
from attncli.i18n import N_, Lang, Localised, _
from attncli.practice.start import OpenFile
from attncli.tui.screens.base import HelpScreen, Navigation
from attncli.tui.theme import THEMES, code_theme, code_theme_named
from attncli.tui.widgets.basics import KeyBar, KeysInOrder, Page, TitleBar

INDENT = 4
SECONDS_BETWEEN_SAVES = 5.0
"""The most typing that a killed process loses."""
TO_WRITE = "raise NotImplementedError"
"""The line of a starter at which the cursor starts."""

_EDITING = {
    "Ctrl+Z": ("undo", N_("Undo")),
    "Ctrl+Y": ("redo", N_("Redo")),
    "Ctrl+X": ("cut", N_("Cut")),
    "Ctrl+V": ("paste", N_("Paste")),
    "F7": ("select_all", N_("Select all")),
    "Ctrl+←": ("cursor_word_left", N_("Previous word")),
    "Ctrl+→": ("cursor_word_right", N_("Next word")),
    "Home": ("cursor_line_start", N_("Start of line")),
    "End": ("cursor_line_end", N_("End of line")),
    "Ctrl+Home": ("to_start", N_("Start of file")),
    "Ctrl+End": ("to_end", N_("End of file")),
    "Ctrl+W": ("delete_word_left", N_("Delete previous word")),
    "Ctrl+K": ("delete_to_end_of_line_or_delete_line", N_("Delete to end of line")),
}
"""{key as written: (action, description)}; most are actions of Textual, named here for Help."""
_ARROWS = str.maketrans({"←": "left", "→": "right"})


class CodeArea(KeysInOrder, TextArea):
    """Python code; Enter indents the next line, Backspace removes one level of indentation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "new_line", N_("New line"), show=False),
        *(
            Binding(shown.lower().translate(_ARROWS), action, description, show=False, key_display=shown)
            for shown, (action, description) in _EDITING.items()
        ),
    ]

    def action_new_line(self) -> None:
        row, column = min(self.selection)
        before = self.document.get_line(row)[:column]
        deeper = INDENT if before.rstrip().endswith(":") else 0
        indent = len(before) - len(before.lstrip(" "))
        self._replace_via_keyboard("\n" + " " * (indent + deeper), *self.selection)

    def action_delete_left(self) -> None:
        row, column = self.cursor_location
        if self.selection.is_empty and column and not self.document.get_line(row)[:column].strip(" "):
            self._delete_via_keyboard((row, (column - 1) // INDENT * INDENT), (row, column))
        else:
            super().action_delete_left()

    def action_to_start(self) -> None:
        self.move_cursor((0, 0))

    def action_to_end(self) -> None:
        self.move_cursor(self.document.end)


class EditorScreen(Screen[bool]):
    """Edit a file; returns True if it is to be graded. Wide terminals show the statement beside the code."""

    CSS_PATH = "editor.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012 - Textual's own declaration
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", N_("Save"), key_display="Ctrl+S", priority=True),
        Binding("ctrl+g,f5", "leave(True)", N_("Save and grade"), key_display="Ctrl+G", priority=True),
        Binding("f2", "statement", N_("Statement"), key_display="F2", priority=True),
        Binding("f1", "help", N_("Help"), key_display="F1", priority=True),
        Binding("escape", "leave(False)", N_("Save and back"), key_display="Esc", priority=True),
    ]

    def __init__(self, file: OpenFile, title: Localised, statement: Localised, lang: Lang) -> None:
        super().__init__()
        self.file, self.challenge_title, self.statement, self.lang = file, title, statement, lang

    def compose(self) -> ComposeResult:
        from attncli.tui.widgets.markdown import CardMarkdown

        yield TitleBar(self.challenge_title[self.lang], self.file.path.name, _("saved")[self.lang])
        yield Page(CardMarkdown(self.statement[self.lang]), id="statement")
        yield self._area()
        yield KeyBar(self.lang)

    def _area(self) -> TextArea:
        """Return the code field, without colours if the grammar is not installed."""
        area = CodeArea.code_editor(self.file.text, id="code", tab_behavior="indent")
        area.indent_width = INDENT
        if "python" in area.available_languages:
            area.language = "python"
        for theme in THEMES:
            area.register_theme(code_theme(theme))
        area.theme = code_theme_named(self.app.current_theme)
        return area

    def _recolour(self) -> None:
        self.query_one(TextArea).theme = code_theme_named(self.app.current_theme)

    @property
    def attn(self) -> Navigation:
        return cast(Navigation, self.app)

    def on_mount(self) -> None:
        self.attn.save_text = self.action_save
        self.set_interval(SECONDS_BETWEEN_SAVES, partial(self._save, show_errors=False))
        area = self.query_one(TextArea)
        area.focus()
        self.watch(self.app, "theme", self._recolour, init=False)
        if position := start_position(area.text):
            area.move_cursor(position, center=True)
            self.call_after_refresh(area.scroll_to, x=0, animate=False)

    def on_unmount(self) -> None:
        self.attn.save_text = None

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self.attn.save_text = self.action_save
        self._show_status()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        self._show_status()

    def _show_status(self) -> None:
        area = self.query_one(TextArea)
        line, column = area.cursor_location
        saved = (_("saved") if area.text == self.file.text else _("unsaved"))[self.lang]
        position = _("line {line}, column {column}", line=line + 1, column=column + 1)[self.lang]
        self.query_one(TitleBar).show(self.challenge_title[self.lang], self.file.path.name, f"{position} · {saved}")

    def action_statement(self) -> None:
        """In a narrow terminal, switch between the statement and the code."""
        self.toggle_class("-statement")
        (self.query_one("#statement") if self.has_class("-statement") else self.query_one(TextArea)).focus()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen(self, self.lang))

    def action_save(self) -> bool:
        return self._save(show_errors=True)

    def _save(self, show_errors: bool) -> bool:
        """Save the text and return True; if it cannot be written, the title bar says that it is not saved."""
        text = self.query_one(TextArea).text
        if text == self.file.text and self.file.path.exists():
            return True
        try:
            kept = self.file.save(text)
        except AttnError as error:
            if show_errors:
                self.attn.show_error(error)
            return False
        if kept is not None:
            self.notify(
                _(
                    "{file} was changed elsewhere; that version is now in {kept}.",
                    file=self.file.path.name,
                    kept=kept.name,
                )[self.lang]
            )
        self._show_status()
        return True

    def action_leave(self, grade: bool) -> None:
        if self.action_save():
            self.dismiss(grade)


def start_position(code: str) -> tuple[int, int] | None:
    """Return line and column, from 0, of the code to write, else of the last function or class, if there is one.

    The first lines are the statement, which is long.
    """
    before, found, _rest = code.partition(TO_WRITE)
    if found:
        return before.count("\n"), INDENT
    heads = [row for row, line in enumerate(code.split("\n")) if re.match(r"(async def|def|class) ", line)]
    return (heads[-1], 0) if heads else None
