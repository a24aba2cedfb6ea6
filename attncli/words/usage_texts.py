"""What Click says by itself, of a command's usage and of a call that it cannot read.

Click finds its own translations with gettext: in compiled catalogues, for the whole process, by the language of the
environment alone. So its finished English is looked up here, like any other line (see `in_chinese`).
"""

from __future__ import annotations

from attncli.i18n import Localised, _

USAGE: tuple[Localised, ...] = (
    _("Usage: "),
    _("[OPTIONS]"),
    _("COMMAND [ARGS]..."),
    _("[COMMAND] [ARGS]..."),
    _("Options"),
    _("Commands"),
    _("Positional arguments"),
    _("default: {value}"),
    _("required"),
)
METAVARS: tuple[Localised, ...] = (
    _("TEXT"),
    _("INTEGER"),
    _("INTEGER RANGE"),
    _("FLOAT"),
    _("FLOAT RANGE"),
    _("PATH"),
    _("FILE"),
    _("DIRECTORY"),
)
"""What stands behind an option for its value, where the command has no name of its own for it."""

USAGE_ERRORS: tuple[Localised, ...] = (
    _("{clause}; see `{path} --help`"),
    _("there is no command {name}; did you mean {near}?"),
    _("there is no command {name}; `attn --help` lists the commands"),
    _("No such command {name}"),
    _("No such command {name}. Did you mean {near}?"),
    _("No such command {name}. (Did you mean one of: {near}?)"),
    _("Missing command"),
    _("No such option {name}"),
    _("No such option {name}. Did you mean {near}?"),
    _("No such option {name}. (Did you mean one of: {near}?)"),
    _("Option {name} requires an argument"),
    _("Option {name} requires {count} arguments"),
    _("Option {name} does not take a value"),
    _("Missing argument {name}"),
    _("Missing argument {name}. Choose from: {allowed}"),
    _("Missing option {name}"),
    _("Missing option {name}. Choose from: {allowed}"),
    _("Got unexpected extra argument ({words})"),
    _("Got unexpected extra arguments ({words})"),
    _("Argument {name} takes {count} values"),
    _("Invalid value for {name}: {clause}"),
    _("{value} is not a valid integer"),
    _("{value} is not a valid integer range"),
    _("{value} is not a valid float"),
    _("{value} is not a valid float range"),
    _("{value} is not in the range {range}"),
    _("{value} is not one of {allowed}"),
    _("{value} does not match the format {allowed}"),
    _("{value} does not match the formats {allowed}"),
    _("Directory {path} does not exist"),
    _("Directory {path} is a file"),
    _("File {path} does not exist"),
    _("File {path} is a directory"),
    _("Path {path} does not exist"),
    _("Directory {path} is not readable"),
    _("Path {path} is not readable"),
    _("names no folder"),
    _("{value} is no time such as 2026-05-01T09:30:00+02:00"),
    _("{value} has no offset; end it with Z or, say, +08:00"),
)
