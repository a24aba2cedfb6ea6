"""What is wrong in a database: pages, references, missing parts, damaged rows, rows that lie beside it."""

from __future__ import annotations

from pathlib import Path

from attncli.errors import StoreCorrupt, StoreUnwritable
from attncli.store.connection import Connection
from attncli.store.log import Log

TRUTH = ("log", "meta", "set_aside")
"""The tables that cannot be derived from anything."""
MERGED = "merged "
_SHOWN = 5
_CHECK = "PRAGMA integrity_check"


def problems(connection: Connection, log: Log) -> list[str]:
    """Everything that SQLite's check, the shape and the checksums of the log find; empty if the file is whole."""
    try:
        found = [*_without(missing_parts(connection)), *page_problems(connection), *_named(log)]
        if not found and not connection.unwritable:
            connection.try_writing()
        return found
    except StoreUnwritable as error:
        connection.unwritable = error.message
        return []
    except StoreCorrupt as error:
        return page_problems(connection) or [str(error.__cause__ or error)]


def page_problems(connection: Connection, table: str = "") -> list[str]:
    """What SQLite's own check finds in the file, or in one table and its indexes."""
    try:
        said = [text for (text,) in connection.rows(f"PRAGMA integrity_check({table})" if table else _CHECK)]
        dangling = [] if table else connection.rows("PRAGMA foreign_key_check")
    except StoreCorrupt as error:
        return [str(error.__cause__ or error)]
    return [text for text in said if text != "ok"] + [f"dangling reference in {row[0]}" for row in dangling]


def missing_parts(connection: Connection) -> dict[str, str]:
    """The tables, indexes and triggers that are not there as they should be: name → the table it belongs to."""
    there = _parts(connection)
    return {name: table for name, (table, sql) in expected_parts().items() if there.get(name) != (table, sql)}


def expected_parts() -> dict[str, tuple[str, str]]:
    """Name → (table, SQL) of all that a new database has."""
    from attncli.store.migrations import migrate

    model = Connection(Path(":memory:"))
    try:
        migrate(model)
        return _parts(model)
    finally:
        model.close()


def unmerged(path: Path, connection: Connection) -> list[Path]:
    """The damaged files beside `path` whose rows were not all taken over."""
    sql = "SELECT substr(key, ?) FROM meta WHERE substr(key, 1, ?) = ?"
    merged = {name for (name,) in connection.rows(sql, (len(MERGED) + 1, len(MERGED), MERGED))}
    return [file for file in damaged_files(path) if file.name not in merged]


DAMAGED = "{name}.damaged-{number}"
"""What a damaged database is called from then on."""


def damaged_files(path: Path) -> list[Path]:
    """The damaged databases that were kept beside `path`."""
    real = path.resolve()
    found = real.parent.glob(DAMAGED.format(name=real.name, number="*"))
    return sorted(file for file in found if not file.name.endswith(("-wal", "-shm")))


def _parts(connection: Connection) -> dict[str, tuple[str, str]]:
    sql = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    return {name: (table, " ".join(text.split())) for name, table, text in connection.rows(sql)}


def _without(parts: dict[str, str]) -> list[str]:
    return [f"{name} is missing" if name == table else f"{name} of {table} is missing" for name, table in parts.items()]


def _named(log: Log) -> list[str]:
    rows = log.sweep()
    more = [f"{len(rows) - _SHOWN} more rows of the log are damaged"] if len(rows) > _SHOWN else []
    return [*map(str, rows[:_SHOWN]), *more]
