"""`attn mcp`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from random import Random

import click

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.errors import EnvironmentFailure, UsageError
from attncli.words.command_texts import MCP_WAITS


@click.command()
def mcp() -> None:
    """Serve your own assistant: it quizzes you, gives hints and grades, over the Model Context Protocol on stdio."""
    if find_spec("mcp") is None or find_spec("jsonschema") is None:
        raise EnvironmentFailure("`attn mcp` needs the MCP SDK; install it with: pip install 'attncli[mcp]'")
    if sys.stdin is None:
        raise UsageError("standard input is closed; an assistant starts `attn mcp` and talks to it there")
    from attncli.doors.assistant_server import serve

    current = session()
    if sys.stdin.isatty():
        echo(MCP_WAITS[current.lang], err=True)
    with current.workspace() as workspace:
        serve(workspace, Random())
