"""`attn doctor`: what is put together of all that is looked at, in which order it is told, and the exit code."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import click

from attncli.commands.session import Session, session
from attncli.commands.shared.shared_options import json_option, print_result
from attncli.commands.shared.stdout import echo, show_thousands, verdict_counts
from attncli.domain.device_choice import CUDA
from attncli.domain.text import Lang
from attncli.errors import ConfigInvalid, EnvironmentFailure, StoreCorrupt, StoreError
from attncli.practice import doctor as health
from attncli.practice.daily_backup import newest_copy
from attncli.words import doctor_texts as words
from attncli.words.command_texts import counted
from attncli.words.in_chinese import told_in

NAME_CELLS = 12


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
        print_result(as_json, lambda: found, lambda: _lines(found, current.told_in))
    database = found["database"]
    if database["problems"]:
        problem = database["problems"][0]
        if database["rows"] is None:
            raise StoreError(problem)
        raise StoreCorrupt(f"{database['path']}: {problem}; `attn doctor --rebuild` mends it or saves what can be read")


def _rebuild(current: Session) -> None:
    done, lang = health.rebuild(current.home, current.workspace, show_thousands), current.told_in
    for line in _mended(done, lang):
        echo(line, err=True)
    echo(words.DERIVED[lang].format(count=done.subjects), err=True)


def _mended(done: health.Rebuilt, lang: Lang) -> Iterator[str]:
    if done.kept:
        lost = words.LOST[lang].format(rows=_rows_counted(done.lost, lang)) if done.lost else ""
        cut = words.CUT_SHORT[lang] if done.is_cut_short else ""
        saved = _rows_counted(done.rescued or 0, lang)
        yield words.SAVED[lang].format(rows=saved, lost=lost, cut=cut, kept=done.kept)
    if done.set_aside:
        yield words.PUT_ASIDE[lang].format(rows=_damaged_counted(done.set_aside, lang))
    if done.put_back:
        yield words.PUT_BACK[lang].format(rows=_rows_counted(done.put_back, lang))


def _rows_counted(count: int, lang: Lang) -> str:
    return counted(count, "row")[lang]


def _damaged_counted(count: int, lang: Lang) -> str:
    return (words.DAMAGED_ROW if count == 1 else words.DAMAGED_ROWS)[lang].format(count=count)


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
        "sandbox": describe(health.device() == CUDA),
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
    from attncli.practice.log.rows_ahead import ahead_in_words

    try:
        with current.workspace() as workspace:
            return ahead_in_words(workspace)
    except (StoreError, ConfigInvalid, EnvironmentFailure):
        return []


def _rows(database: dict[str, Any], lang: Lang) -> str:
    if database["rows"] is None:
        return ""
    aside = _damaged_counted(database["set_aside"], lang)
    said = words.SET_ASIDE[lang].format(rows=aside) if database["set_aside"] else ""
    return words.LOG[lang].format(rows=_rows_counted(database["rows"], lang)) + said


def _lines(found: dict[str, Any], lang: Lang) -> list[str]:
    database, banks, sandbox = found["database"], found["banks"], found["sandbox"]
    lines = [_line(name, version, lang) for name, version in found["versions"].items()]
    lines += ["", *(_line(name, place, lang) for name, place in found["paths"].items()), ""]
    log_format = words.FORMAT[lang].format(format=database["format"])
    integrity = words.INTEGRITY[database["integrity"]][lang]
    lines.append(_line("database", f"{integrity}{_rows(database, lang)}{log_format}", lang))
    problems = [*filter(None, [database["unwritable"]]), *database["problems"], *found["config"], *banks["problems"]]
    lines += [_line("", told_in(lang, problem), lang) for problem in problems]
    newest = database["newest_copy"]
    lines.append(_line("copies", (words.NEWEST_COPY if newest else words.NO_COPY)[lang].format(date=newest), lang))
    if "cards" in banks:
        lines.append(_line("banks", words.BANKS[lang].format(**banks), lang))
    lines += [_line("clock", told_in(lang, line), lang) for line in found["clock"]]
    lines.append(_line("device", found["device"], lang))
    lines.append(_line("sandbox", ", ".join(sandbox["layers"]) or words.NO_LAYER[lang], lang))
    missing = sandbox["missing"].items()
    lines += [_line("", words.MISSING[lang].format(name=name, why=told_in(lang, why)), lang) for name, why in missing]
    lines += [_line("", told_in(lang, note), lang) for note in sandbox["notes"]]
    if "gpu" in sandbox:
        lines.append(_line("gpu", ", ".join(sandbox["gpu"]["layers"]) or words.NO_LAYER[lang], lang))
        lines += [_line("", told_in(lang, note), lang) for note in sandbox["gpu"]["notes"]]
    return lines


def _line(name: str, said: str, lang: Lang) -> str:
    """What is said of something, in a column of its own: a Chinese character takes two cells."""
    from rich.cells import cell_len

    shown = words.NAMES[name][lang] if name in words.NAMES else name
    return f"{shown}{' ' * (NAME_CELLS - cell_len(shown))} {said}"
