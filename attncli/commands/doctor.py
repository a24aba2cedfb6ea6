"""`attn doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import click

from attncli.commands.session import Session, session
from attncli.commands.shared_options import json_option, print_json
from attncli.commands.stdout import counting, echo, verdict_counts
from attncli.errors import ConfigInvalid, EnvironmentFailure, StoreCorrupt, StoreError
from attncli.practice import health
from attncli.practice.daily_copy import newest_copy


@click.command()
@json_option
@click.option("--rebuild", is_flag=True, help="Derive all schedules anew from the log; save what a damaged file holds.")
def doctor(as_json: bool, rebuild: bool) -> None:
    """Check versions, places, the sandbox and the database."""
    current = session()
    if rebuild:
        _rebuild(current)
    found = _findings(current)
    with verdict_counts():
        if as_json:
            print_json(found)
        else:
            echo("\n".join(_lines(found)))
    database = found["database"]
    if database["problems"]:
        problem = database["problems"][0]
        if database["rows"] is None:
            raise StoreError(problem)
        raise StoreCorrupt(f"{database['path']}: {problem}; `attn doctor --rebuild` mends it or saves what can be read")


def _rebuild(current: Session) -> None:
    done = health.rebuild(current.home, current.workspace, counting())
    for line in _mended(done):
        echo(line, err=True)
    echo(f"derived {done.subjects} schedules anew", err=True)


def _mended(done: health.Rebuilt) -> Iterator[str]:
    if done.kept:
        lost = f"; {_rows_counted(done.lost)} could not be read" if done.lost else ""
        cut = "; the file was cut short, and what was beyond its end is lost" if done.is_cut_short else ""
        yield f"saved {_rows_counted(done.rescued or 0)} of the log{lost}{cut}; the damaged file is kept as {done.kept}"
    if done.set_aside:
        yield f"set {_rows_counted(done.set_aside, 'damaged ')} aside; nothing reads them any more"
    if done.put_back:
        yield f"put {_rows_counted(done.put_back)} back that another file had"


def _rows_counted(count: int, what: str = "") -> str:
    return f"{count} {what}row{'' if count == 1 else 's'}"


def _findings(current: Session) -> dict[str, Any]:
    from attncli.sandbox.layers_report import describe

    database = health.database_health(current.home)
    banks = _banks(current, whole=not database.problems)
    return {
        "versions": health.versions(),
        "paths": health.places(current.home),
        "device": health.device(),
        "config": _config_problems(current),
        "database": _database(database, newest_copy(current.home)),
        "banks": banks,
        "clock": _clock(current, whole=not database.problems),
        "sandbox": describe(),
    }


def _database(found: health.DatabaseHealth, newest: date | None) -> dict[str, Any]:
    return {
        "path": str(found.path),
        "format": found.format,
        "rows": found.rows,
        "integrity": found.integrity,
        "set_aside": found.set_aside,
        "unwritable": found.unwritable,
        "newest_copy": newest.isoformat() if newest else None,
        "problems": list(found.problems),
    }


def _config_problems(current: Session) -> list[str]:
    try:
        current.settings  # noqa: B018 - reading is the check
    except (ConfigInvalid, EnvironmentFailure) as error:
        return [error.message]
    return []


def _banks(current: Session, whole: bool) -> dict[str, Any]:
    if not whole:
        return {"problems": []}
    try:
        with current.workspace() as workspace:
            if workspace.store.log.length():
                workspace.keep_daily_copy()
            return health.bank_health(workspace)
    except (StoreError, ConfigInvalid, EnvironmentFailure) as error:
        return {"problems": [error.message]}


def _clock(current: Session, whole: bool) -> list[str]:
    """One line for each row that is stamped later than the clock says."""
    if not whole:
        return []
    from attncli.practice.log.stamping import ahead_in_words

    try:
        with current.workspace() as workspace:
            return ahead_in_words(workspace)
    except (StoreError, ConfigInvalid, EnvironmentFailure):
        return []


def _rows(database: dict[str, Any]) -> str:
    aside = f" ({_rows_counted(database['set_aside'], 'damaged ')} set aside)" if database["set_aside"] else ""
    return "" if database["rows"] is None else f", {_rows_counted(database['rows'])}{aside}"


def _lines(found: dict[str, Any]) -> list[str]:
    versions, database, banks, sandbox = found["versions"], found["database"], found["banks"], found["sandbox"]
    lines = [f"{name:<12} {version}" for name, version in versions.items()]
    lines += ["", *(f"{name:<12} {place}" for name, place in found["paths"].items()), ""]
    lines.append(f"{'database':<12} {database['integrity']}{_rows(database)}, format {database['format']}")
    lines += [f"{'':<12} {database['unwritable']}"] if database["unwritable"] else []
    lines += [f"{'':<12} {problem}" for problem in database["problems"] + found["config"] + banks["problems"]]
    lines.append(
        f"{'copies':<12} {'the newest of ' + database['newest_copy'] if database['newest_copy'] else 'none yet'}"
    )
    if "cards" in banks:
        lines.append(
            f"{'banks':<12} {banks['cards']} cards, {banks['topics']} topics, {banks['challenges']} challenges"
        )
    lines += [f"{'clock':<12} {line}" for line in found["clock"]]
    lines.append(f"{'device':<12} {found['device']}")
    lines.append(f"{'sandbox':<12} {', '.join(sandbox['layers']) or 'none'}")
    lines += [f"{'':<12} missing {name}: {reason}" for name, reason in sandbox["missing"].items()]
    lines += [f"{'':<12} {note}" for note in sandbox["notes"]]
    return lines
