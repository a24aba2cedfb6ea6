"""Reads the log rows in a file: JSON lines as `attn export reviews` writes them, or a database from `attn backup`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from attncli.domain.log_row import LogRow
from attncli.domain.log_row_json import LONGEST_LINE, row_of_line
from attncli.errors import UsageError
from attncli.store.connection import MAGIC
from attncli.store.foreign_database import foreign_rows, workshop

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Placed:
    """A row and where it stands, as `file:line` or, in a database, `file`."""

    row: LogRow
    place: str


@dataclass(slots=True)
class LogFile:
    """What can be used of a file, and what is wrong with the rest: each fault says its place first."""

    path: Path
    rows: list[Placed] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    is_database: bool = False


def read_log(path: Path, folder: Path) -> LogFile:
    """The rows in the file `path`; `folder` is where a database may be copied to be read.

    Raises UsageError for a file that cannot be read at all.
    """
    try:
        with path.open("rb") as file:
            if file.peek(len(MAGIC)).startswith(MAGIC):
                return _read_database(path, folder)
            return _read_lines(file, LogFile(path))
    except OSError as error:
        raise UsageError(
            f"cannot read {path} ({error.strerror}); give a file that `attn export reviews` wrote"
        ) from error


def _read_database(path: Path, folder: Path) -> LogFile:
    with workshop(folder) as room:
        found = foreign_rows(path, room)
    rows = [Placed(row, str(path)) for row in found.rows]
    return LogFile(path, rows, [f"{path}: {refused}" for refused in found.refused], is_database=True)


def _read_lines(file: BinaryIO, log: LogFile) -> LogFile:
    for number, line in enumerate(_lines(file), 1):
        place = f"{log.path}:{number}"
        try:
            text = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).decode()
            if text.strip():
                log.rows.append(Placed(row_of_line(text), place))
        except UnicodeDecodeError:
            log.faults.append(f"{place}: no line of a review log (it is not UTF-8)")
        except ValueError as error:
            log.faults.append(f"{place}: no line of a review log ({str(error)[:LONGEST_REASON]})")
    return log


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long, as much as shows that it is."""
    most = LONGEST_LINE + 2
    while line := file.readline(most):
        yield line
        while len(line) == most and not line.endswith(b"\n"):
            line = file.readline(most)
