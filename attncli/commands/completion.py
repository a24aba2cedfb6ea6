"""`attn completion`."""

from __future__ import annotations

import click

from attncli.commands.session import COMPLETION_VARIABLE
from attncli.commands.shared.stdout import echo


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL; source it from the shell's start-up file."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, "click completes all three"
    echo(found(click.get_current_context().find_root().command, {}, "attn", COMPLETION_VARIABLE).source())
