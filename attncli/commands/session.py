"""What the global options say, and the pieces that every command opens from it."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from attncli import config, paths
from attncli.errors import AttnError

if TYPE_CHECKING:
    from pathlib import Path

    from attncli.domain.text import Lang
    from attncli.practice.workspace import Clock, Workspace
    from attncli.store.database import Database

COMPLETION_VARIABLE = "_ATTN_COMPLETE"


def present() -> datetime:
    """The clock of the program; cards and challenges get it as an argument."""
    return datetime.now(UTC)


class Session:
    """One call of the program."""

    def __init__(self, clock: Clock = present) -> None:
        self.clock = clock
        self.home_folder: Path | None = None
        self.lang_option: Lang | None = None
        self.debug = False
        self.left_out: list[str] = []
        self._store: Database | None = None

    @cached_property
    def home(self) -> paths.Home:
        return paths.home(self.home_folder, os.environ)

    @cached_property
    def settings(self) -> config.Settings:
        """The learner's settings. Raises ConfigInvalid."""
        return config.load(self.home.config, os.environ)

    @property
    def lang(self) -> Lang:
        return self.lang_option or self.settings.lang

    @property
    def told_in(self) -> Lang:
        """The language of help and errors: `lang`, or the environment's where the settings cannot be read."""
        try:
            return self.lang
        except AttnError:
            return config.default_lang(os.environ)

    def workspace(self) -> Workspace:
        """The learner's workspace, to be used as a context manager; `left_out` then names what banks lack."""
        from attncli.practice.workspace import Workspace

        workspace = Workspace.open(self.home, self.clock, self.lang, self.settings)
        self._store = workspace.store
        self.left_out = workspace.store.files.problems()
        return workspace

    @property
    def remarks(self) -> list[str]:
        """What there is to say of the database, though the command went well."""
        return self._store.remarks if self._store else []


def session() -> Session:
    """The session of the running command."""
    import click

    found = click.get_current_context().find_object(Session)
    assert found is not None, "commands run below the group that makes the session"
    return found


def on_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty()
