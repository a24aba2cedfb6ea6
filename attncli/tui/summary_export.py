"""The interview summary, written from within the app."""

from __future__ import annotations

from functools import partial
from typing import Any

from textual.app import App

from attncli.errors import AttnError
from attncli.practice.workspace import Workspace
from attncli.tui.app_errors import fault_text
from attncli.words.app_texts import say

SECONDS_SHOWN = 10


def export_summary(app: App[Any], opened: Workspace) -> None:
    """Writes it, and says where, while the app goes on: all that was learned is read."""
    app.run_worker(partial(_export, app, opened), group="summary", exclusive=True, thread=True)


def _export(app: App[Any], opened: Workspace) -> None:
    from attncli.export.summary_file import write_summary

    lang = opened.lang
    try:
        with opened.beside() as workspace:
            file = write_summary(workspace)
    except AttnError as error:
        app.notify(fault_text(error, lang), severity="warning")
    else:
        app.notify(say("summary.written", lang, file=file), timeout=SECONDS_SHOWN)
