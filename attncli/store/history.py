"""The learner's history: append-only JSON Lines, one file a machine. All else in the home is derived from it.

    machine.json                 the id of this machine, with a fingerprint of the computer and the folder
    history/<machine>.jsonl      written by that machine alone
    history/import-<hash>.jsonl  the rows of one import, written whole
    damaged/<file>-<hash>.jsonl  lines that were set aside

A line is a row with a running number before it and a CRC-32 of all bytes before that after it:

    {"n":17,"id":"…","machine":"…","kind":"review","subject":"kv-01","at":"…Z","day":739950,"payload":{…},"crc":"0f1e2d3c"}

A row is acknowledged once its line is on disk. A line that does not parse, or whose checksum or number does not fit, is
reported with file and line; every other line counts.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from zlib import crc32

from attncli.errors import DISK_FULL, HOME_REMEDY, StoreError, StoreFull, StoreUnwritable, unreadable, unwritable
from attncli.i18n import NOTHING, Localised, _
from attncli.paths import flush_folder, write_bytes

if TYPE_CHECKING:
    from attncli.domain.log_row import LogRow, RowKind

FOLDER, DAMAGED, MACHINE, ENDING = "history", "damaged", "machine.json", ".jsonl"
_LINE = re.compile(rb'\{"n":(\d{1,15}),.*,"crc":"([0-9a-f]{8})"\}', re.DOTALL)
_BEGINNING = re.compile(rb'(?=\{"n":\d)')
_LOCK_BYTE = 1 << 40
"""Windows refuses reading of locked bytes, so the lock lies beyond any content."""


class Entry(NamedTuple):
    """A row with its running number; `end` is the offset in bytes after its line, the `line`-th of the file."""

    row: LogRow
    number: int
    line: int
    end: int


class Damage(NamedTuple):
    """A line that cannot be used, or lines that are missing before it."""

    file: Path
    line: int
    reason: Localised
    raw: bytes = b""

    def text(self) -> Localised:
        """Return the file, the line and the reason."""
        return _("{place}: {reason}", place=f"{self.file}:{self.line}", reason=self.reason)


# Lines


def encoded(number: int, row: LogRow) -> bytes:
    """Return the line of a row, with its newline."""
    from attncli.domain.log_row import document_of

    body = json.dumps({"n": number, **document_of(row)}, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return body + b',"crc":"%08x"}\n' % crc32(body)


def decoded(line: bytes) -> tuple[int, LogRow]:
    """Return the number and the row of a line without its newline. Raises ValueError with a message."""
    from attncli.domain.log_row import LogRow, RowKind

    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(_("not a history row"))
    if crc32(line[: match.start(2) - len(',"crc":"')]) != int(match[2], 16):
        raise ValueError(_("the checksum does not match"))
    try:
        found = json.loads(line)
        at = datetime.fromisoformat(found["at"])
        kind, payload = RowKind(found["kind"]), found["payload"]
        return found["n"], LogRow(found["id"], found["machine"], kind, found["subject"], at, found["day"], payload)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(_("unknown format, perhaps from a newer attn")) from error


def _row_in(line: bytes) -> tuple[int, LogRow | None, Localised]:
    """Return number and row of a line, also if a damaged byte follows it, and a message about any damage."""
    try:
        return *decoded(line), NOTHING
    except ValueError as error:
        with suppress(ValueError):
            return *decoded(line[:-1]), _("the end of the line is damaged")
        return 0, None, error.args[0]


def read(path: Path, start: int = 0, line: int = 0, number: int = 0) -> Iterator[Entry | Damage]:
    """Yield the rows of a file from byte `start`, which follows `line` lines; the last of these has `number`.

    A last line without a newline may still be being written: it counts if it is whole, else it is skipped. A line
    contains several rows if a newline was damaged. Raises StoreError if the file cannot be read.
    """
    from attncli.domain.log_row import LONGEST_LINE

    end, damaged = start, 0
    try:
        with path.open("rb") as file:
            file.seek(start)
            for raw in iter(lambda: file.readline(LONGEST_LINE), b""):
                line, end, before, wrong = line + 1, end + len(raw), number, NOTHING
                content = raw.rstrip(b"\r\n")
                for piece in filter(None, _BEGINNING.split(content)):
                    found, row, fault = _row_in(piece)
                    wrong = fault or wrong
                    if row is None:
                        continue
                    if found <= number:
                        wrong = _("row number {found} is repeated", found=found)
                        continue
                    if (count := found - number - 1 - damaged) > 0:
                        one = _("row {number} before it is missing", number=found - 1)
                        rows = _("rows {first} to {last} before it are missing", first=found - count, last=found - 1)
                        yield Damage(path, line, one if count == 1 else rows)
                    number, damaged = found, 0
                    yield Entry(row, found, line, end)
                if wrong and raw.endswith(b"\n"):
                    damaged += number == before
                    yield Damage(path, line, wrong, content)
    except OSError as error:
        raise StoreError(unreadable(path, error, _("make it readable"), at_home=True)) from error


# The folder


class Writer:
    """Rows that are written together when the `writing` block ends."""

    def __init__(self, machine: str, path: Path, number: int) -> None:
        self.machine, self.path, self.number = machine, path, number
        self.lines: list[bytes] = []

    def add(self, kind: RowKind, subject: str, at: datetime, day: int, payload: dict[str, Any]) -> LogRow:
        """Return a new row of this machine, to be written. Ids are unique, and grow on each machine."""
        from uuid import uuid4

        from attncli.domain.log_row import LogRow

        self.number += 1
        id = f"{self.number:012x}-{self.machine}-{uuid4().hex[:8]}"
        row = LogRow(id, self.machine, kind, subject, at, day, payload)
        self.lines.append(encoded(self.number, row))
        return row


class History:
    """The history in the folder `home`. Several processes may write at once: each waits for the lock."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / FOLDER

    def files(self) -> list[Path]:
        """Return the files of the history, in order."""
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if path.suffix == ENDING and path.name[0] != ".")

    @property
    def machine(self) -> str:
        """Return the machine id of new rows here; empty if the next write starts a new one."""
        from attncli.domain.log_row import is_machine

        try:
            known = json.loads((self.home / MACHINE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        fits = isinstance(known, dict) and known.get("fingerprint") == fingerprint(self.home)
        return known["id"] if fits and is_machine(str(known.get("id"))) else ""

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the lock; write the rows that were added when the block ends without an exception.

        Raises StoreFull or StoreUnwritable; then nothing is written.
        """
        with self._locked():
            with in_words(self.folder):
                machine = self.machine or self._new_machine()
                path = self.folder / f"{machine}{ENDING}"
                writer = Writer(machine, path, self._mended(path))
            yield writer
            with in_words(path):
                if writer.lines:
                    append(path, b"".join(writer.lines))

    def add_import(self, rows: Iterable[LogRow]) -> Path:
        """Write the rows of an import to a separate file, all or none. Raises StoreFull, StoreUnwritable."""
        from hashlib import sha256

        content = b"".join(encoded(number, row) for number, row in enumerate(rows, 1))
        path = self.folder / f"import-{sha256(content).hexdigest()[:16]}{ENDING}"
        with in_words(path):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_bytes(path, content)
        return path

    def extend_file(self, name: str, content: bytes) -> bool:
        """Write a file of another machine if it extends the copy here; return False if it does not.

        Raises StoreFull, StoreUnwritable.
        """
        path = self.folder / name
        with self._locked(), in_words(path):
            fits = not path.exists() or content.startswith(path.read_bytes())
            if fits:
                write_bytes(path, content)
        return fits

    def replace_by(self, rows: Iterable[LogRow]) -> None:
        """Replace the history by these rows. The next row of this machine is written under a new id, to a new file."""
        before = self.files()
        kept = self.add_import(rows)
        with self._locked(), in_words(self.folder):
            for path in before:
                if path != kept:
                    path.unlink()
            (self.home / MACHINE).unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with in_words(self.folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (self.folder / ".lock").open("ab")
        with file:
            lock(file)
            yield

    def sizes(self) -> dict[Path, int]:
        """Return the bytes of each file; another process may just have removed some."""
        found = {}
        for path in self.files():
            with suppress(FileNotFoundError):
                found[path] = path.stat().st_size
        return found

    def set_aside(self, damage: Damage) -> Path | None:
        """Copy a damaged line to the folder `damaged`, once; return the file, None for missing lines."""
        from hashlib import sha256

        if not damage.raw:
            return None
        name = f"{damage.file.stem}-{sha256(damage.raw).hexdigest()[:16]}{ENDING}"
        path = self.home / DAMAGED / name
        if not path.exists():
            with in_words(path):
                path.parent.mkdir(mode=0o700, exist_ok=True)
                append(path, damage.raw + b"\n")
        return path

    def _new_machine(self) -> str:
        from uuid import uuid4

        id = uuid4().hex[:8]
        document = {"id": id, "fingerprint": fingerprint(self.home)}
        write_bytes(self.home / MACHINE, json.dumps(document).encode() + b"\n")
        return id

    def _mended(self, path: Path) -> int:
        """Return the last number in our own file, after a torn last line was set aside and cut off."""
        from attncli.domain.log_row import LONGEST_LINE

        if not path.exists():
            return 0
        with path.open("rb+") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - LONGEST_LINE)
            file.seek(start)
            lines = file.read().rsplit(b"\n", 2)
            if torn := lines.pop():
                _number, row, fault = _row_in(torn)
                sound = b"" if row is None else torn[:-1] if fault else torn
                if sound:
                    lines.append(sound)
                else:
                    self.set_aside(Damage(path, 0, _("the last line is incomplete"), torn))
                file.truncate(file.seek(size - len(torn) + len(sound)))
                file.write(b"\n" if sound else b"")
                file.flush()
                os.fsync(file.fileno())
        for line in reversed(lines):
            number, row, _fault = _row_in(line)
            if row is not None:
                return number
        return max((found.number for found in read(path) if isinstance(found, Entry)), default=0)


def append(path: Path, content: bytes) -> None:
    """Append bytes to a file, on disk when this returns. Raises OSError; then the file is as it was."""
    is_new = not path.exists()
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    try:
        size = os.fstat(handle).st_size
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(handle, left) :]
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)
    if is_new:
        flush_folder(path.parent)


def lock(file: BinaryIO) -> None:
    """Lock an open file, waiting if needed; every process of this home does so to write. Closing it unlocks it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(_LOCK_BYTE)
        while True:
            with suppress(OSError):  # it gives up after ten seconds
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX)


@cache
def fingerprint(home: Path) -> str:
    """Return a hash of this computer and of the folder: it differs for a copy of the folder."""
    import socket
    from hashlib import sha256

    try:
        computer = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        computer = socket.gethostname()
    return sha256(f"{computer}\n{home.resolve()}".encode()).hexdigest()[:16]


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Turn an OSError of writing to `path` into StoreFull or StoreUnwritable."""
    try:
        yield
    except OSError as error:
        kind = StoreFull if error.errno in DISK_FULL else StoreUnwritable
        raise kind(unwritable(path, error, HOME_REMEDY, at_home=True)) from error
