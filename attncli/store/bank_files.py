"""Derived: which bank files were read, how they looked then, and what was wrong in them."""

from __future__ import annotations

from collections.abc import Sequence

from attncli.store.connection import Connection

Stamp = tuple[int, int]
"""Size in bytes and time of modification in nanoseconds: what tells whether a file changed since it was read."""


class BankFiles:
    """The files behind the index. Removing one removes what came from it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def stamps(self) -> dict[str, Stamp]:
        rows = self._connection.rows("SELECT path, size, mtime_ns FROM bank_file")
        return {path: (size, mtime_ns) for path, size, mtime_ns in rows}

    def problems(self) -> list[str]:
        """What was wrong in the files when they were read, file by file."""
        rows = self._connection.rows("SELECT problems FROM bank_file WHERE problems <> '' ORDER BY path")
        return [problem for (problems,) in rows for problem in problems.splitlines()]

    def put(self, path: str, stamp: Stamp, problems: Sequence[str]) -> None:
        """Records that `path` was read; whatever it held before is gone."""
        self.remove(path)
        lines = "\n".join(" ".join(problem.split()) for problem in problems)
        self._connection.execute(
            "INSERT INTO bank_file (path, size, mtime_ns, problems) VALUES (?, ?, ?, ?)", (path, *stamp, lines)
        )

    def remove(self, path: str) -> None:
        self._connection.execute(
            "DELETE FROM card_text WHERE rowid IN (SELECT number FROM card WHERE file = ?)", (path,)
        )
        self._connection.execute("DELETE FROM bank_file WHERE path = ?", (path,))
