"""Opening a file in the learner's editor."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from attncli.domain.text import Lang
from attncli.errors import EditorMissing
from attncli.words.command_texts import NO_EDITOR, NO_EDITORS

_USUAL = ("nano", "vim", "vi", "notepad")


def edit(file: Path, setting: str, environ: Mapping[str, str]) -> None:
    """Opens `file` and waits until the editor is closed. Raises EditorMissing."""
    command = editor_command(setting, environ)
    if not command:
        raise EditorMissing("")
    try:
        subprocess.run([*command, str(file)], check=False)
    except OSError as error:
        raise EditorMissing(command[0], error.strerror or "") from error


def told(error: EditorMissing, lang: Lang) -> str:
    """Which editor could not be started, and what to do."""
    text = NO_EDITOR if error.editor else NO_EDITORS
    return text[lang].format(editor=error.editor, why=error.why)


def editor_command(
    setting: str, environ: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """The words of the command: the setting, `$VISUAL`, `$EDITOR`, then what is usually there; empty if nothing is."""
    for choice in (setting, environ.get("VISUAL", ""), environ.get("EDITOR", "")):
        if words := _words(choice):
            return words
    return next(([name] for name in _USUAL if which(name)), [])


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]
