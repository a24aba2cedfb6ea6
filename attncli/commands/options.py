"""Options that several commands have: `--json`, `--at`, paths, and where an export goes."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

from attncli.commands.session import echo, session
from attncli.domain.dates import read_date
from attncli.errors import UsageError
from attncli.i18n import N_, Localised, _, quoted
from attncli.paths import cannot_write, expanded, write_bytes

STDOUT = "-"
REMEDY = _("choose another file with -o")

json_option = click.option("--json", "as_json", is_flag=True, help=N_("Print one JSON document."))
topic_option = click.option("--topic", help=N_("Only cards of this topic."))
examples_option = click.option(
    "--examples", type=click.IntRange(0, 10_000), default=0, help=N_("Number of inputs for matches-reference.")
)


class TimeLimit(click.FloatRange):
    """A number of seconds; Click's range lets NaN pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            raise UsageError(_("--timeout is not a number; give seconds, e.g. 10"))
        return seconds


class UserPath(click.Path):
    """A path in which `~` is expanded: a shell does not do it in `--option=~/x`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(expanded(value) if isinstance(value, str) else value, param, ctx)


class MomentType(click.ParamType[datetime]):
    """An ISO 8601 time; the offset is required, so that it means the same moment in every time zone."""

    name = "ISO8601"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            at = datetime.fromisoformat(str(value))
        except ValueError:
            raise UsageError(_("{value} is not a time such as 2026-05-01T09:30:00+02:00", value=value)) from None
        if at.tzinfo is None:
            raise UsageError(_("{value} has no UTC offset; end it with Z or, e.g., +08:00", value=value))
        return at


class DayType(click.ParamType[date]):
    """A date as people type it, such as `17 Dec` or `in 3 weeks`."""

    name = "DATE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        return value if isinstance(value, date) else read_date(str(value), session().clock().astimezone().date())


at_option = click.option(
    "--at", type=MomentType(), help=N_("Use this as the current time, with UTC offset (default: now).")
)


# Export targets


@dataclass(frozen=True, slots=True)
class Target:
    """The target of an export: `file`, or standard output if it is None."""

    file: Path | None = None

    @property
    def ending(self) -> str:
        """The extension of the file in lower case, without the dot; empty if there is none."""
        return self.file.suffix.removeprefix(".").lower() if self.file else ""

    def refuse_other_endings(self, endings: Sequence[str], what: Localised) -> None:
        """Raise UsageError if the file has an extension that is not among `endings`."""
        if self.ending and self.ending not in endings:
            known = _(" or ").join(quoted(f".{ending}") for ending in endings)
            raise UsageError(
                _(
                    "cannot write {what} to {file}; use a name that ends in {known}",
                    file=self.file,
                    known=known,
                    what=what,
                )
            )

    def refuse_terminal(self, what: Localised, name: str) -> None:
        """Raise UsageError if a binary document would be printed to a terminal."""
        if self.file is None and sys.stdout.isatty():
            raise UsageError(_("cannot print {what} to a terminal; give a file: -o {name}", what=what, name=name))

    def refuse_place(self) -> None:
        """Raise UsageError, before any work is done, if the file cannot be created there."""
        if self.file is None:
            return
        if not self.file.absolute().parent.is_dir():
            raise UsageError(
                _(
                    "cannot write {file} (there is no folder {parent}); {remedy}",
                    file=self.file,
                    parent=self.file.absolute().parent,
                    remedy=REMEDY,
                )
            )
        if self.file.is_dir():
            raise UsageError(_("cannot write {file} (it is a folder); {remedy}", file=self.file, remedy=REMEDY))

    def write_text(self, text: str) -> None:
        if self.file is None:
            echo(text, end="")
        else:
            self.write_bytes(text.encode())

    def write_bytes(self, document: bytes) -> None:
        if self.file is None:
            sys.stdout.buffer.write(document)
            sys.stdout.buffer.flush()
            return
        try:
            write_bytes(self.file, document)
        except OSError as error:
            raise cannot_write(self.file, error, REMEDY) from error


class TargetType(UserPath):
    """An option that names an export target, `-` for stdout; the shell completes it as a file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, Target):
            return value
        file: Any = super().convert(value, param, ctx)
        return Target(None if value == STDOUT else Path(file))
