"""The options that several commands have."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from attncli.commands.shared.json_document import print_json, print_result
from attncli.paths import expanded

__all__ = ["UserPath", "at_option", "json_option", "print_json", "print_result"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


class UserPath(click.Path):
    """A path in which `~` is the learner's folder: a shell does not expand it in `--option=~/x`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(expanded(value) if isinstance(value, str) else value, param, ctx)


class MomentType(click.ParamType[datetime]):
    """ISO 8601 with an offset; without one it would mean another moment in every time zone."""

    name = "ISO8601"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            at = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value} is no time such as 2026-05-01T09:30:00+02:00", param, ctx)
        if at.tzinfo is None:
            self.fail(f"{value} has no offset; end it with Z or, say, +08:00", param, ctx)
        return at


at_option = click.option("--at", type=MomentType(), help="As if it were then, with offset (default: now).")
