"""Making sure that nobody else has a database open."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from attncli.errors import StoreError, StoreUnwritable, remedy_for

# Where SQLite locks: every connection to a database in write-ahead mode holds a shared lock there while it is open.
_LOCKED_AT, _LOCKED_BYTES = 0x40000000, 512
_HELD = (errno.EACCES, errno.EAGAIN)


@contextmanager
def held_alone(path: Path) -> Iterator[BinaryIO]:
    """The file at `path`, which no other process opens as a database until this ends.

    Nothing else in this process may open or close the same file meanwhile: that would give the lock up. Raises
    StoreError if another attn has it open. On a system without these locks (Windows) an open file cannot be replaced.
    """
    try:
        file = path.open("rb+")
    except OSError as error:
        remedy = remedy_for(error, "make it and its folder writable")
        raise StoreUnwritable(f"cannot write to the database {path} ({error.strerror}); {remedy}") from error
    with file:
        _lock(file, path)
        yield file


def _lock(file: BinaryIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED_BYTES, _LOCKED_AT)
    except OSError as error:
        if error.errno in _HELD:
            raise StoreError(f"another attn has {path} open; close it first, then try again") from error
