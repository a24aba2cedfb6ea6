"""The options that several commands have."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.shared.json_document import print_json, print_result

__all__ = ["at_option", "json_option", "print_json", "print_result"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


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
