"""Where an export goes: to a file, whose ending agrees with what is written, or to standard output, which is `-`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from attncli.commands.shared.shared_options import UserPath
from attncli.commands.shared.stdout import echo, echo_bytes
from attncli.errors import UsageError
from attncli.files import cannot_write, write_bytes, write_whole

STDOUT = "-"
REMEDY = "name another file with -o"


@dataclass(frozen=True, slots=True)
class Target:
    """`file` is None for standard output."""

    file: Path | None = None

    @property
    def ending(self) -> str:
        """What the file's name asks for, without the dot; empty where it asks for nothing."""
        return self.file.suffix.removeprefix(".").lower() if self.file else ""

    def refuse_other_endings(self, endings: Sequence[str], what: str) -> None:
        """Raises UsageError for a name that asks for another format than the only one that there is."""
        if self.ending and self.ending not in endings:
            known = " or ".join(f".{ending}" for ending in endings)
            raise UsageError(f"{self.file} does not end in {known}, and {what} is written as nothing else; rename it")

    def refuse_terminal(self, what: str, name: str) -> None:
        """Raises UsageError where bytes would be printed for a person to read."""
        if self.file is None and sys.stdout.isatty():
            raise UsageError(f"{what} is nothing for a terminal; name a file: -o {name}")

    def refuse_place(self) -> None:
        """Raises UsageError, before any work is done, where no file can come to lie."""
        if self.file is None:
            return
        if not self.file.absolute().parent.is_dir():
            raise UsageError(f"cannot write {self.file} (there is no folder {self.file.absolute().parent}); {REMEDY}")
        if self.file.is_dir():
            raise UsageError(f"cannot write {self.file} (it is a folder); {REMEDY}")

    def write_text(self, text: str) -> None:
        if self.file is None:
            echo(text, end="")
            return
        try:
            write_whole(self.file, [text])
        except OSError as error:
            raise cannot_write(self.file, error, REMEDY) from error

    def write_bytes(self, document: bytes) -> None:
        if self.file is None:
            echo_bytes(document)
            return
        try:
            write_bytes(self.file, document)
        except OSError as error:
            raise cannot_write(self.file, error, REMEDY) from error


class TargetType(UserPath):
    """The type of an option that names a target; the shell completes it as a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, Target):
            return value
        file: Any = super().convert(value, param, ctx)
        return Target(None if value == STDOUT else Path(file))
