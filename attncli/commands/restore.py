"""`attn restore`."""

from __future__ import annotations

from pathlib import Path

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import UserPath
from attncli.commands.shared.stdout import echo
from attncli.domain.printable import printable
from attncli.errors import NotFound, UsageError
from attncli.words.command_texts import MISSING, RESTORED, ROWS_LEFT_OUT, SEMICOLON, WHAT_WAS_KEPT, counted


@click.command()
@click.argument("file", type=UserPath(path_type=Path))
def restore(file: Path) -> None:
    """Replace your progress by the backup FILE; a copy of what was there is kept."""
    from attncli.store.restore_backup import restore_database

    if not file.exists():
        raise NotFound(f"there is no file {file}; `attn backup` writes one")
    if not file.is_file():
        raise UsageError(f"{file} is no file; name the one that `attn backup` wrote")
    current = session()
    home, lang = current.home, current.lang
    done = restore_database(home.database, file, home.backups, current.clock())
    with current.workspace():
        """Schedules are derived when a database is first opened."""
    if done.refused:
        first = " ".join(printable(done.refused[0]).split())
        echo(ROWS_LEFT_OUT.format(rows=counted(len(done.refused), "row"), first=first, file=file)[lang], err=True)
    said = [RESTORED.format(rows=counted(done.rows, "row"), file=file)]
    if done.missing:
        said.append(MISSING.format(rows=counted(done.missing, "row"), kept=done.kept))
    elif done.kept:
        said.append(WHAT_WAS_KEPT.format(kept=done.kept))
    echo(SEMICOLON.join(said)[lang])
