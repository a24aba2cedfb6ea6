"""The console command: global options, and commands that are loaded when they are called."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from attncli.commands.session import COMPLETION_VARIABLE, Session
from attncli.errors import UsageError

COMMANDS: dict[str, str] = {
    "answer": "attncli.commands.answer:answer",
    "backup": "attncli.commands.backup:backup",
    "bank": "attncli.commands.authoring:bank",
    "bury": "attncli.commands.hold:bury",
    "cards": "attncli.commands.cards:cards",
    "challenges": "attncli.commands.challenges:challenges",
    "cohort": "attncli.commands.cohort:cohort",
    "completion": "attncli.commands.completion:completion",
    "config": "attncli.commands.config:config",
    "doctor": "attncli.commands.setup:doctor",
    "drill": "attncli.commands.drill:drill",
    "due": "attncli.commands.due:due",
    "experiment": "attncli.commands.experiments:experiment",
    "export": "attncli.commands.data:export",
    "grade": "attncli.commands.grade:grade",
    "hint": "attncli.commands.hint:hint",
    "import": "attncli.commands.import_reviews:import_",
    "ladder": "attncli.commands.ladder:ladder",
    "mcp": "attncli.commands.mcp:mcp",
    "mock": "attncli.commands.practise:mock",
    "new": "attncli.commands.new:new",
    "optimize": "attncli.commands.optimize:optimize",
    "plan": "attncli.commands.plan:plan",
    "quiz": "attncli.commands.quiz:quiz",
    "restore": "attncli.commands.restore:restore",
    "review": "attncli.commands.review:review",
    "serve": "attncli.commands.serve:serve",
    "show": "attncli.commands.show:show",
    "solution": "attncli.commands.solution:solution",
    "start": "attncli.commands.start:start",
    "stats": "attncli.commands.stats:stats",
    "suspend": "attncli.commands.hold:suspend",
    "sync": "attncli.commands.sync:sync",
    "undo": "attncli.commands.undo:undo",
    "unsuspend": "attncli.commands.hold:unsuspend",
    "verify": "attncli.commands.verify:verify",
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
        from attncli.commands.shared.open_app import open_app

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
    from attncli.commands.shared.read_ahead import read_ahead

    read_ahead(words, current)


def _in_words(current: Session) -> click.Group:
    """The commands, with the words of the learner's language."""
    if current.told_in == "en":
        return cli
    from attncli.commands.shared.chinese_help import with_chinese_help

    told = with_chinese_help(cli)
    assert isinstance(told, Commands), "a copy is what was copied"
    told.worded = with_chinese_help
    return told


def _usage(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "attn"
    message = error.format_message().rstrip(".")
    return message if "`" in message or "did you mean" in message.lower() else f"{message}; see `{path} --help`"
