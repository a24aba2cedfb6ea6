"""Opening a file from a screen: in the learner's editor, or in the app's own."""

from __future__ import annotations

import os
from pathlib import Path

from textual.app import SuspendNotSupported

from attncli.domain.text import Localised
from attncli.errors import AttnError, EditorMissing
from attncli.practice.edited_file import OpenFile
from attncli.practice.learners_editor import edit, told
from attncli.practice.start import start_challenge
from attncli.tui.screens.base import AttnScreen
from attncli.words.app_texts import say


def has_file(screen: AttnScreen, challenge: str, file: Path) -> bool:
    """Whether there is a file to work with: a starter is written where there was none."""
    if not file.exists():
        try:
            start_challenge(screen.workspace, challenge)
        except AttnError as error:
            screen.attn.tell(error)
            return False
        screen.notify(say("challenge.started", screen.lang, file=file))
    return True


def edit_outside(screen: AttnScreen, file: Path) -> None:
    """Waits until the learner's editor is closed; where there is none, or no place for one, it is told.

    No error may leave `suspend`: Textual would never take the terminal back.
    """
    missing: EditorMissing | None = None
    try:
        with screen.app.suspend():
            try:
                edit(file, screen.workspace.settings.editor, os.environ)
            except EditorMissing as error:
                missing = error
    except SuspendNotSupported:
        screen.notify(say("challenge.no-suspend", screen.lang, file=file), severity="warning")
    if missing:
        screen.notify(told(missing, screen.lang), severity="error")
    screen.app.refresh(layout=True)


async def write_here(screen: AttnScreen, file: Path, title: Localised, statement: Localised) -> bool:
    """Whether the file is to be graded after it was edited here; a file that cannot be opened is told. In a worker."""
    from attncli.tui.screens.editor import EditorScreen

    try:
        opened = OpenFile(file)
    except AttnError as error:
        screen.attn.tell(error)
        return False
    grade = await screen.app.push_screen_wait(EditorScreen(opened, title, statement, screen.lang))
    return grade is True
