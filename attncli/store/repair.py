"""Mending a database in place, under the eyes of whoever has it open: damaged rows, missing parts, derived tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from attncli.errors import StoreUnwritable
from attncli.store.connection import Connection, damaged
from attncli.store.database import Database
from attncli.store.database_check import MERGED, TRUTH, expected_parts, missing_parts, page_problems, unmerged
from attncli.store.log import Log
from attncli.store.page_scan import FoundRows
from attncli.store.rescue import add_from_backups, rows_in

# SQLite names the row of a log whose JSON is broken so; the checksum of that row does not fit either.
_A_DAMAGED_ROW = "CHECK constraint failed in log"
_TRUTH_MARKS = ", ".join("?" * len(TRUTH))


@dataclass(frozen=True, slots=True)
class Repaired:
    """How many damaged rows were set aside, and how many rows were found elsewhere."""

    set_aside: int = 0
    put_back: int = 0


def repair_in_place(store: Database, backups: Path) -> Repaired:
    """Mends what can be mended without a new file; each step is one transaction.

    Raises StoreCorrupt if pages of the log itself are damaged, StoreUnwritable if nothing can be written.
    """
    connection, log = store.connection, store.log
    if connection.unwritable:
        raise StoreUnwritable(connection.unwritable)
    for table in TRUTH:
        _require_whole(connection, table)
    aside, back = _sort_rows(connection, log, backups)
    _mend_derived(connection)
    _mend_parts_of_the_truth(connection)
    if left := page_problems(connection):
        raise damaged(connection.path, left[0])
    connection.try_writing()
    return Repaired(aside, back)


def _require_whole(connection: Connection, table: str) -> None:
    wrong = [said for said in page_problems(connection, table) if said != _A_DAMAGED_ROW]
    if wrong:
        raise damaged(connection.path, wrong[0])


def _sort_rows(connection: Connection, log: Log, backups: Path) -> tuple[int, int]:
    """Sets damaged rows aside, and puts back those of which a backup or a damaged file has a whole copy."""
    files = unmerged(connection.path, connection)
    rows = log.sweep()
    if not rows and not files:
        return 0, 0
    found = FoundRows()
    for file in files:
        found.add_missing(rows_in(file))
    if rows:
        elsewhere = FoundRows()
        add_from_backups(elsewhere, 0, backups)
        lost_numbers = {row.number for row in rows}
        for id, row in elsewhere.rows.items():
            if elsewhere.numbers[id] in lost_numbers:
                found.add(elsewhere.numbers[id], row)
    with connection.transaction():
        log.set_aside(row.number for row in rows)
        back = sum(log.put_back(number or 0, row) for number, row in found.in_order())
        for file in files:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, '')", (MERGED + file.name,))
    return len(rows), back


def _mend_parts_of_the_truth(connection: Connection) -> None:
    """Makes the indexes and triggers of the log anew that are missing or not as they should be."""
    wrong = missing_parts(connection)
    if not wrong:
        return
    parts = expected_parts()
    with connection.transaction():
        for name in wrong:
            kind = connection.value("SELECT type FROM sqlite_schema WHERE name = ?", (name,))
            if kind in ("index", "trigger"):
                connection.execute(f"DROP {kind} {name}")
            connection.execute(parts[name][1])


def _mend_derived(connection: Connection) -> None:
    """Makes all derived tables anew, empty, if anything about them is wrong."""
    wrong = [table for table in missing_parts(connection).values() if table not in TRUTH]
    if not wrong and not page_problems(connection):
        return
    with connection.transaction():
        _forget_derived(connection)
        _make_derived(connection)
        connection.execute("UPDATE meta SET value = '' WHERE key = 'scheduling'")
    # Gives the forgotten pages back, and with them whatever was wrong in them.
    connection.execute("VACUUM")


def _make_derived(connection: Connection) -> None:
    parts = [(name, sql) for name, (table, sql) in expected_parts().items() if table not in TRUTH]
    # The search table brings its own tables with it, so it comes before they are missed.
    for name, sql in sorted(parts, key=lambda part: "VIRTUAL" not in part[1]):
        if not connection.value("SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)):
            connection.execute(sql)


def _forget_derived(connection: Connection) -> None:
    """Takes the tables out of the schema without reading them: a damaged one cannot be dropped."""
    connection.execute("PRAGMA writable_schema = ON")
    try:
        connection.execute(
            f"DELETE FROM sqlite_schema WHERE tbl_name NOT IN ({_TRUTH_MARKS}) AND name NOT LIKE 'sqlite_%'", TRUTH
        )
        connection.execute(
            f"DELETE FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex_%' AND tbl_name NOT IN ({_TRUTH_MARKS})",
            TRUTH,
        )
    finally:
        connection.execute("PRAGMA writable_schema = RESET")
