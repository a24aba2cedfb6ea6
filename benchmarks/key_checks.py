"""Invariants after any keys: the log is complete and only grows, and the stored state matches its replay."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual.widgets import TextArea

from attncli.domain.log_row import line_of, row_of_line
from attncli.errors import InvalidInput
from attncli.paths import Home
from attncli.practice import mock_log
from attncli.practice.record import take_back
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp
from attncli.tui.screens.editor import EditorScreen
from attncli.tui.screens.mock import MockCodeScreen, MockInterviewScreen
from attncli.tui.screens.review import ReviewScreen

UNDONE_AFTER_A_SITTING = 2
_ROWS = "SELECT seq, id, kind, subject, at_us, payload FROM entry ORDER BY seq"
_DERIVED = {name: f"SELECT * FROM {name}" for name in ("schedule", "hold", "queue", "sibling")}


class Broken(AssertionError):
    """Raised when an invariant is violated."""


@dataclass(slots=True)
class Witness:
    """Observes a session from outside: rows seen on disk, and acts shown as done, must persist."""

    home: Home
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    typed: tuple[Path, TextArea] | None = None
    interview: tuple[str, int | None, dict[int, Any]] | None = None

    def look(self, app: AttnApp) -> None:
        """Check after an act, while the app runs."""
        self._rows_on_disk()
        self.typed = self.interview = None
        for screen in app.screen_stack:
            if isinstance(screen, ReviewScreen) and hasattr(screen, "session"):
                self._see_done(screen)
            elif isinstance(screen, MockInterviewScreen | MockCodeScreen):
                state = screen.interview.state
                self.interview = (state.id, state.place, dict(state.settled))
            elif isinstance(screen, EditorScreen) and screen.query("#code"):
                self.typed = (screen.file.path, screen.query_one("#code", TextArea))

    def after(self) -> None:
        """Check after a session ended in any way."""
        self._rows_on_disk()
        if self.typed is not None and self.typed[0].exists():
            file, area = self.typed  # keys typed ahead may have reached the text area since
            _require(file.read_text(encoding="utf-8") == area.text, f"what was typed is not in {file.name}")
        with _opened(self.home) as workspace:
            _the_log_is_valid(workspace)
            _the_state_is_what_the_log_says(workspace, "as it is")
            self._the_interview_stands(workspace)
            for _ in range(UNDONE_AFTER_A_SITTING):
                try:
                    undone = take_back(workspace)
                except InvalidInput:
                    break
                _the_state_is_what_the_log_says(workspace, f"after the undo of {undone.kind} {undone.subject}")
        self._rows_on_disk()
        self.typed = self.interview = None

    def _rows_on_disk(self) -> None:
        """Check that another reader of the file sees every earlier row, unchanged and in place."""
        if not self.home.database.exists():
            return
        with sqlite3.connect(f"file:{self.home.database}?mode=ro", uri=True) as reader:
            new = reader.execute(_ROWS + " LIMIT -1 OFFSET ?", (max(0, len(self.rows) - 1),)).fetchall()
            count = reader.execute("SELECT count(*) FROM entry").fetchone()[0]
        reader.close()
        _require(count >= len(self.rows), f"the log had {len(self.rows)} rows and has {count}")
        _require(not self.rows or new[0] == self.rows[-1], "a row of the log is not what it was")
        self.rows += new[1:] if self.rows else new

    def _see_done(self, screen: ReviewScreen) -> None:
        """Check that every act which the session counts as done is on disk."""
        on_disk = {row[1] for row in self.rows[-200:]}
        for row in screen.session._done[-100:]:
            _require(not row.id or row.id in on_disk, f"the {row.kind} of {row.subject} is shown as done, not on disk")

    def _the_interview_stands(self, workspace: Workspace) -> None:
        if self.interview is None:
            return
        id, place, settled = self.interview
        found = mock_log.state_of(workspace, id)
        _require(found is not None and (found.place, found.settled) == (place, settled), "the interview is another")


def _opened(home: Home) -> Workspace:
    from key_homes import Clock

    return Workspace.open(home, Clock())


def _the_log_is_valid(workspace: Workspace) -> None:
    problems = workspace.store.damages()
    _require(not problems, f"the database says {problems}")
    for row in workspace.store.log.everything():
        try:
            same = row_of_line(line_of(row)) == row
        except ValueError as error:
            raise Broken(f"row {row.id} ({row.kind} {row.subject}) is not valid: {error}") from error
        _require(same and row.is_usable, f"row {row.id} ({row.kind} {row.subject}) says nothing that can be used")


def _the_state_is_what_the_log_says(workspace: Workspace, when: str) -> None:
    kept = _derived(workspace)
    workspace.derive_all()
    anew = _derived(workspace)
    for table, rows in kept.items():
        if rows != anew[table]:
            odd = [sorted(rows - anew[table])[:3], sorted(anew[table] - rows)[:3]]
            raise Broken(f"{when}, {table} is not what the log says: kept {odd[0]}, derived {odd[1]}")


def _derived(workspace: Workspace) -> dict[str, set[tuple[str, ...]]]:
    connection = workspace.store.connection
    return {name: {tuple(map(repr, row)) for row in connection.rows(sql)} for name, sql in _DERIVED.items()}


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Broken(otherwise)
