"""`--help` in Chinese: the same commands with the words of the tables, laid out in cells.

Click asks the methods of `HelpFormatter` and the attributes of a command for whatever it prints; what these are here
is Chinese. A command is copied, and itself stays as it was.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from copy import copy
from typing import TypeVar

import click

from attncli.domain.cells import cells, left
from attncli.domain.line_breaks import wrapped
from attncli.words.in_chinese import in_chinese, told_in

_Command = TypeVar("_Command", bound=click.Command)
_EXTRA = re.compile(r"(?P<help>.*?)(?:  )?\[(?P<extra>[^\[\]]*)\]", re.DOTALL)


class ChineseFormatter(click.HelpFormatter):
    """Click's layout, measured in cells."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        first = f"{prefix or _said('Usage: ')}{prog} "
        self._write_beside(first, wrapped(args, max(self.width - cells(first), 20)))

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':{self.current_indent}}{_said(heading)}：\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = [wrapped(part, self.width - len(indent)) for part in text.split("\n\n")]
        self.write("\n\n".join("\n".join(f"{indent}{line}" for line in lines) for lines in paragraphs) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        told = [(first, _with_extra(second)) for first, second in rows]
        widest = max(cells(first) for first, _ in told)
        column = self.current_indent + min(widest, col_max) + col_spacing
        for first, second in told:
            name = " " * self.current_indent + first
            if second and cells(name) + col_spacing > column:
                self.write(f"{name}\n")
                name = ""
            self._write_beside(left(name, column), wrapped(second, max(self.width - column, 10)))

    def _write_beside(self, first: str, lines: list[str]) -> None:
        indent = " " * cells(first)
        for number, line in enumerate(lines):
            self.write(f"{indent if number else first}{line}".rstrip() + "\n")


class ChineseContext(click.Context):
    """What Click hands from a command to its help."""

    formatter_class = ChineseFormatter


def with_chinese_help(command: _Command) -> _Command:
    """A copy of `command`, and of those below it, whose help is Chinese."""
    told = copy(command)
    told.context_class = ChineseContext
    told.options_metavar = _said(command.options_metavar or "")
    told.help = _paragraphs(inspect.cleandoc(command.help or ""))
    told.short_help = re.split("[。：；]", told.help, maxsplit=1)[0]
    told.params = [_in_chinese(parameter) for parameter in command.params]
    if isinstance(command, click.Group) and isinstance(told, click.Group):
        told.commands = {name: with_chinese_help(inner) for name, inner in command.commands.items()}
        told.subcommand_metavar = _said(command.subcommand_metavar)
    return click.help_option("-h", "--help", help=_said("Show this message and exit."))(told)


def _said(text: str) -> str:
    return told_in("zh", text)


def _paragraphs(text: str) -> str:
    """Each paragraph in Chinese, or as it is where no table has it."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n\n".join(map(_said, paragraphs))


def _in_chinese(parameter: click.Parameter) -> click.Parameter:
    told = copy(parameter)
    if isinstance(told, click.Option):
        told.help = _said(told.help or "")
        told.metavar = told.metavar or in_chinese(told.type.name.upper())
    return told


def _with_extra(text: str) -> str:
    """The text of an option with Click's `[default: 20; x>=1]` behind it."""
    found = _EXTRA.fullmatch(text)
    if not found:
        return text
    said = "；".join(map(_said, found["extra"].split("; ")))
    return f"{found['help']}［{said}］"
