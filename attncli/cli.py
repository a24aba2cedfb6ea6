"""The console command: global options, and commands that are loaded when they are called."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import click

from attncli.commands.session import COMPLETION_VARIABLE, Session
from attncli.domain.text import LANGS, cells, left, wrapped
from attncli.errors import UsageError
from attncli.words.in_chinese import in_chinese, told_in

COMMANDS: dict[str, str] = {
    "answer": "attncli.commands.cards:answer",
    "backup": "attncli.commands.data:backup",
    "bank": "attncli.commands.authoring:bank",
    "bury": "attncli.commands.cards:bury",
    "cards": "attncli.commands.cards:cards",
    "challenges": "attncli.commands.challenges:challenges",
    "cohort": "attncli.commands.cohort:cohort",
    "completion": "attncli.commands.setup:completion",
    "config": "attncli.commands.setup:config",
    "doctor": "attncli.commands.setup:doctor",
    "drill": "attncli.commands.practise:drill",
    "due": "attncli.commands.cards:due",
    "experiment": "attncli.commands.experiments:experiment",
    "export": "attncli.commands.data:export",
    "grade": "attncli.commands.grade:grade",
    "hint": "attncli.commands.challenges:hint",
    "import": "attncli.commands.data:import_",
    "ladder": "attncli.commands.experiments:ladder",
    "mcp": "attncli.commands.setup:mcp",
    "mock": "attncli.commands.practise:mock",
    "new": "attncli.commands.authoring:new",
    "optimize": "attncli.commands.setup:optimize",
    "plan": "attncli.commands.cards:plan",
    "quiz": "attncli.commands.practise:quiz",
    "restore": "attncli.commands.data:restore",
    "review": "attncli.commands.practise:review",
    "serve": "attncli.commands.setup:serve",
    "show": "attncli.commands.cards:show",
    "solution": "attncli.commands.challenges:solution",
    "start": "attncli.commands.challenges:start",
    "stats": "attncli.commands.cards:stats",
    "suspend": "attncli.commands.cards:suspend",
    "sync": "attncli.commands.data:sync_",
    "undo": "attncli.commands.cards:undo",
    "unsuspend": "attncli.commands.cards:unsuspend",
    "verify": "attncli.commands.challenges:verify",
}


class Commands(click.Group):
    """Imports a command's module when it is called, so that no command pays for another."""

    worded: Callable[[click.Command], click.Command] = staticmethod(lambda command: command)
    """What each command passes before it is used: its words may be made those of another language."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        _accept_global_options(command)
        return self.worded(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = click.utils.make_str(args[0])
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = sorted(get_close_matches(name, COMMANDS), key=lambda known: known[0] != name[:1])
            hint = f"did you mean {near[0]}?" if near else "`attn --help` lists the commands"
            raise click.UsageError(f"there is no command {name}; {hint}", ctx)
        return super().resolve_command(ctx, args)


def _set_home(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value == "":
        raise click.BadParameter("names no folder", ctx, parameter)
    if value is not None:
        ctx.ensure_object(Session).home_folder = Path(value)


def _set_lang(ctx: click.Context, _: click.Parameter, value: Any) -> None:
    if value is not None:
        ctx.ensure_object(Session).lang_option = value


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).debug = True


def _global_options() -> list[click.Option]:
    return [
        click.Option(
            ["--home"],
            type=click.Path(file_okay=False),
            metavar="DIR",
            expose_value=False,
            callback=_set_home,
            help="The learner's folder (default: $ATTN_HOME, else the user data folder).",
        ),
        click.Option(
            ["--lang"],
            type=click.Choice(["en", "zh"]),
            expose_value=False,
            callback=_set_lang,
            help="Language of cards and output.",
        ),
        click.Option(
            ["--debug"], is_flag=True, expose_value=False, callback=_set_debug, help="Full tracebacks, and a log."
        ),
    ]


def _accept_global_options(command: click.Command) -> None:
    """The global options are understood after the command's name as well."""
    taken = {name for parameter in command.params for name in parameter.opts}
    for option in _global_options():
        if not taken.intersection(option.opts):
            option.hidden = True
            command.params.append(option)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _accept_global_options(inner)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from attncli import __version__

        click.echo(f"attn {__version__}")
        ctx.exit()


@click.group(
    cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}, name="attn"
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="The version."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Get ready for Transformer and LLM interviews: cards on a schedule, code that is graded.

    Without a command the app opens.
    """
    ctx.ensure_object(Session)
    if ctx.invoked_subcommand is None:
        from attncli.commands.session import open_app

        ctx.exit(open_app("home", "`attn due` says what is due without it"))


cli.params[:0] = _global_options()


def run(words: Sequence[str], current: Session) -> int:
    """Runs the command that `words` name; its exit code. Raises AttnError, KeyboardInterrupt."""
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(_in_words(current), {}, "attn", COMPLETION_VARIABLE, instruction)
    group: click.Group = cli
    if "--help" in words or "-h" in words:
        _read_ahead(words, current)
        group = _in_words(current)
    try:
        with group.make_context("attn", list(words), obj=current) as ctx:
            result = group.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort as abort:
        raise KeyboardInterrupt from abort
    except click.UsageError as error:
        _read_ahead(words, current)
        raise UsageError(_usage(error)) from error
    except click.ClickException as error:
        raise UsageError(error.format_message()) from error
    return result if isinstance(result, int) else 0


def _read_ahead(words: Sequence[str], current: Session) -> None:

    read_ahead(words, current)


def _in_words(current: Session) -> click.Group:
    """The commands, with the words of the learner's language."""
    if current.told_in == "en":
        return cli

    told = with_chinese_help(cli)
    assert isinstance(told, Commands), "a copy is what was copied"
    told.worded = with_chinese_help
    return told


def _usage(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "attn"
    message = error.format_message().rstrip(".")
    return message if "`" in message or "did you mean" in message.lower() else f"{message}; see `{path} --help`"


# What a call says of its language and its folder, where the parser has not read it to its end.


def read_ahead(words: Sequence[str], current: Session) -> None:
    """Takes over `--lang` and `--home` from `words`, wherever they stand, unless they were read already.

    `--help` ends a call before the options behind it are read, and so does a mistake.
    """
    for name, value in _given(words):
        if name == "--lang" and current.lang_option is None:
            current.lang_option = next((lang for lang in LANGS if lang == value), None)
        if name == "--home" and current.home_folder is None and value:
            current.home_folder = Path(value)


def _given(words: Sequence[str]) -> list[tuple[str, str]]:
    apart = [(name, value) for name, value in pairwise(words) if name in ("--lang", "--home")]
    return apart + [(name, value) for name, sign, value in (word.partition("=") for word in words) if sign]


# `--help` in Chinese: the same commands with the words of the tables, laid out in cells.
#
# Click asks the methods of `HelpFormatter` and the attributes of a command for whatever it prints; what these are here
# is Chinese. A command is copied, and itself stays as it was.

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
