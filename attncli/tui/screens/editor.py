"""The app's own editor: a solution beside its statement, Python highlighted, saved whenever the screen is left."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import TextArea

from attncli.domain.text import Lang, Localised
from attncli.errors import AttnError
from attncli.practice.challenges.open_file import OpenFile
from attncli.tui.routes import Routes
from attncli.tui.widgets.in_order import KeysInOrder
from attncli.tui.widgets.key_bar import KeyBar
from attncli.tui.widgets.page import Page
from attncli.tui.widgets.title_bar import TitleBar
from attncli.words.app_texts import say

INDENT = 4
TO_WRITE = "raise NotImplementedError"
"""Where the cursor goes in a starter."""


class CodeArea(KeysInOrder, TextArea):
    """What is typed in a hurry stands as it was typed."""


class EditorScreen(Screen[bool]):
    """Dismissed with whether the file is to be graded now. Wide terminals show the statement beside the code."""

    CSS_PATH = Path(__file__).with_suffix(".tcss")
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-wide")]  # noqa: RUF012 - Textual's own declaration
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "key.save", key_display="Ctrl+S", priority=True),
        Binding("ctrl+g,f5", "leave(True)", "key.save-and-grade", key_display="Ctrl+G", priority=True),
        Binding("f2", "statement", "key.statement", key_display="F2", priority=True),
        Binding("escape", "leave(False)", "key.save-and-back", key_display="Esc", priority=True),
    ]

    def __init__(self, file: OpenFile, title: Localised, statement: Localised, lang: Lang) -> None:
        super().__init__()
        self.file, self.named, self.statement, self.lang = file, title, statement, lang

    def compose(self) -> ComposeResult:
        yield TitleBar(self.named[self.lang], self.file.path.name, say("editor.saved", self.lang))
        yield Page(*self._statement(), id="statement")
        yield self._area()
        yield KeyBar(self.lang)

    def _statement(self) -> Iterable[Page]:
        from attncli.tui.widgets.markdown_card import CardMarkdown

        return [cast(Page, CardMarkdown(self.statement[self.lang]))]

    def _area(self) -> TextArea:
        """Where the grammar is not installed the code is shown without colours."""
        area = CodeArea.code_editor(self.file.text, id="code", tab_behavior="indent")
        area.indent_width = INDENT
        if "python" in area.available_languages:
            area.language = "python"
        area.theme = "vscode_dark" if self.app.current_theme.dark else "github_light"
        return area

    @property
    def attn(self) -> Routes:
        return cast("Routes", self.app)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.focus()
        before, found, _ = area.text.partition(TO_WRITE)
        if found:
            area.move_cursor((before.count("\n"), INDENT), center=True)
            self.call_after_refresh(area.scroll_to, x=0, animate=False)

    def on_unmount(self) -> None:
        self.attn.keep = None

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self.attn.keep = self.action_save
        self._show_standing()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        self._show_standing()

    def _show_standing(self) -> None:
        area = self.query_one(TextArea)
        line, column = area.cursor_location
        kept = say("editor.saved" if area.text == self.file.text else "editor.unsaved", self.lang)
        place = say("editor.place", self.lang, line=line + 1, column=column + 1)
        self.query_one(TitleBar).show(self.named[self.lang], self.file.path.name, f"{place} · {kept}")

    def action_statement(self) -> None:
        """In a narrow terminal the statement instead of the code, and back."""
        self.toggle_class("-statement")
        (self.query_one("#statement") if self.has_class("-statement") else self.query_one(TextArea)).focus()

    def action_save(self) -> bool:
        """Whether the text is on disk now."""
        text = self.query_one(TextArea).text
        if text == self.file.text and self.file.path.exists():
            return True
        try:
            kept = self.file.save(text)
        except AttnError as error:
            self.attn.tell(error)
            return False
        if kept is not None:
            self.notify(say("editor.kept-other", self.lang, file=self.file.path.name, kept=kept.name))
        self._show_standing()
        return True

    def action_leave(self, grade: bool) -> None:
        if self.action_save():
            self.dismiss(grade)
