"""The `attn` command: global options, commands that are imported when they are called, and `--help` in Chinese."""

from __future__ import annotations

import gettext
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import click

from attncli import __version__
from attncli.commands.session import COMPLETION_VARIABLE, Session
from attncli.domain.text import cells, left, wrapped
from attncli.errors import UsageError
from attncli.i18n import CATALOGUE, LANGS, N_, Lang, Localised, _, quoted

_FILES = {
    "authoring": "bank new",
    "cards": "answer bury cards due plan show stats suspend undo unsuspend",
    "challenges": "challenges hint solution start verify",
    "cohort": "cohort",
    "data": "backup export import restore sync",
    "experiments": "experiment ladder",
    "grade": "grade",
    "practise": "drill mock quiz review",
    "setup": "completion config doctor mcp optimize serve",
}
COMMANDS = {name: f"attncli.commands.{file}" for file, names in _FILES.items() for name in names.split()}
"""The module of each command. Its function has the name of the command, and an underscore where that is taken."""


SECTIONS: dict[str, tuple[str, ...]] = {
    N_("Study"): ("review", "drill", "quiz", "mock", "plan"),
    N_("Code"): ("challenges", "start", "grade", "hint", "solution"),
    N_("Progress"): ("stats", "export", "import", "sync"),
    N_("Setup"): ("config", "doctor"),
}
"""The commands that `attn --help` explains; it only names the others."""
_TITLE, _NAME, _WIDTH = 10, 12, 80
_SENTENCE = re.compile(r"(?<=[.:;])\s|[。：；]")


class Commands(click.Group):
    """Import the module of a command when it is called, so that no command pays for another."""

    lang: Lang = "en"
    """The language of the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name])
        command: click.Command = getattr(module, f"{cmd_name}_", None) or getattr(module, cmd_name)
        _accept_global_options(command)
        return with_chinese_help(command) if self.lang == "zh" else command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a page of 24 lines and 80 columns: the usual commands by section, then the names of the others."""
        lang, listed = self.lang, [name for names in SECTIONS.values() for name in names]
        lines = [_("Usage: attn [OPTIONS] [COMMAND]    (without a command, the app opens)")[lang]]
        lines += [_("Practise for Transformer and LLM interviews: cards on a schedule, graded code.")[lang], ""]
        for section, names in SECTIONS.items():
            for name in names:
                command = self.get_command(ctx, name)
                summary = _SENTENCE.split(command.help or "", maxsplit=1)[0] if command else ""
                heading = _(section)[lang] if name == names[0] else ""
                lines.append(left(heading, _TITLE) + left(name, _NAME) + summary.rstrip(".:;"))
        more = ", ".join(sorted(COMMANDS.keys() - set(listed)))
        options = _(
            "--home DIR (data folder), --lang en|zh, --debug, --version, --help; `attn COMMAND --help` says more"
        )
        for title, text in ((_("More"), more), (_("Options"), options[lang])):
            first, *rest = wrapped(text, _WIDTH - _TITLE)
            lines += [left(title[lang], _TITLE) + first, *(" " * _TITLE + line for line in rest)]
        formatter.write("\n".join(lines) + "\n")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = click.utils.make_str(args[0])
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = sorted(get_close_matches(name, COMMANDS), key=lambda known: known[0] != name[:1])
            hint = _("did you mean {near}?", near=near[0]) if near else _("run `attn --help` for a list")
            raise UsageError(_("unknown command {name}; {hint}", name=name, hint=hint))
        return super().resolve_command(ctx, args)


def _global_options() -> list[click.Option]:
    return [
        click.Option(
            ["--home"],
            type=click.Path(file_okay=False),
            metavar="DIR",
            expose_value=False,
            callback=_set_home,
            help=N_("Data folder (default: $ATTN_HOME, or the user data folder)."),
        ),
        click.Option(
            ["--lang"],
            type=click.Choice(["en", "zh"]),
            expose_value=False,
            callback=_set_lang,
            help=N_("Language of cards and output."),
        ),
        click.Option(
            ["--debug"],
            is_flag=True,
            expose_value=False,
            callback=_set_debug,
            help=N_("Show full tracebacks and write a log."),
        ),
    ]


def _set_home(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value == "":
        raise UsageError(_("--home needs a folder"))
    if value is not None:
        ctx.ensure_object(Session).home_folder = Path(value)


def _set_lang(ctx: click.Context, _: click.Parameter, value: Any) -> None:
    if value is not None:
        ctx.ensure_object(Session).lang_option = value


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).debug = True


def _accept_global_options(command: click.Command) -> None:
    """Let `command` and its subcommands take the global options too, so that they may follow its name."""
    taken = {name for parameter in command.params for name in parameter.opts}
    for option in _global_options():
        if not taken.intersection(option.opts):
            option.hidden = True
            command.params.append(option)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _accept_global_options(inner)


@click.group(
    cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}, name="attn"
)
@click.version_option(__version__, message="attn %(version)s", help=N_("Show the version and exit."))
@click.pass_context
def cli(ctx: click.Context) -> None:
    ctx.ensure_object(Session)
    if ctx.invoked_subcommand is None:
        from attncli.commands.session import open_app

        ctx.exit(open_app("home", _("run `attn due` for the counts")))


cli.params[:0] = _global_options()


def run(words: Sequence[str], current: Session) -> int:
    """Run the command in `words` and return its exit code. Raises AttnError, KeyboardInterrupt."""
    ahead = _read_ahead(words, current)
    if ahead.message_lang == "en":
        return _run(words, current, cli, ahead)
    with _click_in_chinese():
        return _run(words, current, _in_chinese(), ahead)


def _run(words: Sequence[str], current: Session, group: click.Group, ahead: Session) -> int:
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "attn", COMPLETION_VARIABLE, instruction)
    try:
        with group.make_context("attn", list(words), obj=current) as ctx:
            result = group.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort as abort:
        raise KeyboardInterrupt from abort
    except click.ClickException as error:
        current.lang_option = ahead.message_lang
        raise UsageError(_usage_message(error)) from error
    return result if isinstance(result, int) else 0


def _usage_message(error: click.ClickException) -> Localised:
    problem = error.format_message().rstrip(".。")
    if gettext.textdomain() == "click":
        problem = re.sub(r"[.。] ", "；", problem)
    if not isinstance(error, click.UsageError) or getattr(error, "possibilities", None):
        return quoted(problem)
    path = error.ctx.command_path if error.ctx else "attn"
    return _("{problem}; see `{path} --help`", problem=problem, path=path)


def _read_ahead(words: Sequence[str], current: Session) -> Session:
    """Return a session with `--lang` and `--home` from anywhere in `words`, to choose the language of Click's texts.

    Parsing stops at `--help` or at an error, before any later options are read.
    """
    ahead = Session(current.clock)
    ahead.lang_option, ahead.home_folder = current.lang_option, current.home_folder
    pairs = [*pairwise(words), *((name, value) for name, _equals, value in (word.partition("=") for word in words))]
    for name, value in pairs:
        if name == "--lang" and ahead.lang_option is None:
            ahead.lang_option = next((lang for lang in LANGS if lang == value), None)
        if name == "--home" and ahead.home_folder is None and value:
            ahead.home_folder = Path(value)
    return ahead


# `--help` and usage errors in Chinese

_EXTRA = re.compile(r"(?P<help>.*?)(?:  )?\[(?P<extra>[^\[\]]*)\]", re.DOTALL)
_PLACEHOLDERS = (
    *(N_("[OPTIONS]"), N_("COMMAND [ARGS]..."), N_("[COMMAND] [ARGS]...")),
    *(N_("TEXT"), N_("INTEGER"), N_("INTEGER RANGE"), N_("FLOAT"), N_("FLOAT RANGE")),
    *(N_("PATH"), N_("FILE"), N_("DIRECTORY"), N_("required"), N_("Show this message and exit.")),
)
"""Click's own texts that it does not translate."""


@contextmanager
def _click_in_chinese() -> Iterator[None]:
    """Let Click find `click.mo`: it asks gettext, which takes the language from the environment."""
    before, domain = os.environ.get("LANGUAGE"), gettext.textdomain()
    gettext.bindtextdomain("click", CATALOGUE.parents[2])
    gettext.textdomain("click")
    os.environ["LANGUAGE"] = "zh_CN"
    try:
        yield
    finally:
        gettext.textdomain(domain)
        if before is None:
            del os.environ["LANGUAGE"]
        else:
            os.environ["LANGUAGE"] = before


def _in_chinese() -> click.Group:
    chinese = with_chinese_help(cli)
    assert isinstance(chinese, Commands), "a copy is what was copied"
    chinese.lang = "zh"
    return chinese


_Command = TypeVar("_Command", bound=click.Command)


def with_chinese_help(command: _Command) -> _Command:
    """Return a copy of `command` and its subcommands with Chinese help; unknown texts stay English."""
    chinese = copy(command)
    chinese.context_class = ChineseContext
    chinese.options_metavar = _chinese(command.options_metavar or "")
    chinese.help = _chinese(command.help or "")
    chinese.short_help = re.split("[。：；]", chinese.help, maxsplit=1)[0]
    chinese.params = [_chinese_option(parameter) for parameter in command.params]
    if isinstance(command, click.Group) and isinstance(chinese, click.Group):
        chinese.commands = {name: with_chinese_help(inner) for name, inner in command.commands.items()}
        chinese.subcommand_metavar = _chinese(command.subcommand_metavar)
    return click.help_option("-h", "--help", help=_chinese("Show this message and exit."))(chinese)


def _chinese_option(parameter: click.Parameter) -> click.Parameter:
    chinese = copy(parameter)
    if isinstance(chinese, click.Option):
        chinese.help = _chinese(chinese.help or "")
        if not chinese.metavar and (name := chinese.type.name.upper()) in _PLACEHOLDERS:
            chinese.metavar = _chinese(name)
    return chinese


def _chinese(text: str) -> str:
    return _(text)["zh"] if text else ""


class ChineseFormatter(click.HelpFormatter):
    """Click's help formatter, with widths measured in terminal cells."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        first = f"{prefix or gettext.gettext('Usage:')}{prog} "
        self._write_beside(first, wrapped(args, max(self.width - cells(first), 20)))

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':{self.current_indent}}{heading}：\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = [wrapped(part, self.width - len(indent)) for part in text.split("\n\n")]
        self.write("\n\n".join("\n".join(f"{indent}{line}" for line in lines) for lines in paragraphs) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        chinese = [(first, _chinese_description(second)) for first, second in rows]
        widest = max(cells(first) for first, _ in chinese)
        column = self.current_indent + min(widest, col_max) + col_spacing
        for first, second in chinese:
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
    """A context whose help is laid out by ChineseFormatter."""

    formatter_class = ChineseFormatter


def _chinese_description(text: str) -> str:
    """Return the description of an option with Click's suffix `[default: 20; x>=1]` in Chinese."""
    found = _EXTRA.fullmatch(text)
    if not found:
        return text
    extra = "；".join(_chinese(part) if part in _PLACEHOLDERS else part for part in found["extra"].split("; "))
    return f"{found['help']}［{extra}］"
