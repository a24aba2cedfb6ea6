"""Read the `progress.db` of an earlier version, to import its rows."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from attncli.domain.log_row import LogRow, row_of_document
from attncli.errors import UsageError
from attncli.i18n import Localised, _
from attncli.store.connection import moment

MAGIC = b"SQLite format 3\x00"
_IS_TABLE = "SELECT 1 FROM sqlite_schema WHERE name = 'log' AND type = 'table' AND sql NOT LIKE 'create virtual%'"
_ROWS = """SELECT CAST(id AS BLOB), CAST(machine AS BLOB), CAST(kind AS BLOB), CAST(subject AS BLOB),
    CAST(payload AS BLOB), at_us, day FROM log ORDER BY seq"""


def rows_of_database(path: Path) -> tuple[list[LogRow], list[Localised]]:
    """Return the usable rows of a `progress.db` of an earlier version, and a message about each of the others.

    The file is copied first, because SQLite writes files beside it. Raises UsageError if it cannot be read.
    """
    rows, refused = list[LogRow](), list[Localised]()
    try:
        with TemporaryDirectory(prefix="attn-old-") as folder:
            copy = Path(folder) / "old.db"
            for suffix in ("", "-wal"):
                if (file := path.with_name(path.name + suffix)).exists():
                    shutil.copyfile(file, copy.with_name(copy.name + suffix))
            with closing(sqlite3.connect(copy)) as old:
                old.execute("PRAGMA trusted_schema = OFF")
                if not old.execute(_IS_TABLE).fetchone():
                    raise UsageError(_("{path} has no history table; give another file", path=path))
                for *texts, at_us, day in old.execute(_ROWS):
                    try:
                        id, machine, kind, subject, payload = (bytes(text).decode() for text in texts)
                        document = {"id": id, "machine": machine, "kind": kind, "subject": subject, "day": day}
                        at, content = moment(at_us).isoformat(), json.loads(payload)
                        rows.append(row_of_document({**document, "at": at, "payload": content}))
                    except (TypeError, ValueError, OverflowError) as error:
                        id = bytes(texts[0] or b"").decode(errors="replace")[:200]
                        refused.append(_("row {id}: {error}", id=id, error=error))
    except (sqlite3.Error, OSError) as error:
        raise UsageError(
            _("{path} is damaged or not an attn database ({error}); give another file", path=path, error=error)
        ) from error
    return rows, refused
