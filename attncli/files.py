"""Writing a file at one stroke: whenever the power fails, the old content is there or the new one, never a part."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO

from attncli.errors import NO_ROOM, AttnError, EnvironmentFailure, UsageError, remedy_for

FORGOTTEN_SECONDS = 600


def write_whole(path: Path, lines: Iterable[str]) -> int:
    """Writes `lines` to `path`, on disk when this returns; how many. Raises OSError, then `path` is as it was.

    A link stays a link. What is no ordinary file (a pipe, a device) is written to as it stands.
    """
    return _write(path, _encoded(lines))


def write_bytes(path: Path, content: bytes) -> None:
    """Writes `content` to `path` as `write_whole` writes lines. Raises OSError, then `path` is as it was."""
    _write(path, [content])


def put_text(path: Path, text: str, remedy: str) -> None:
    """Writes `text` to `path` as `write_whole` does, with the folders that it takes.

    Raises UsageError, with its `remedy`, or EnvironmentFailure where there is no room; then `path` is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [text])
    except OSError as error:
        raise cannot_write(path, error, remedy) from error


def replace_whole(path: Path, lines: Iterable[str], confirm: Callable[[], None]) -> int:
    """Puts a new file with `lines` at `path`, which is on disk when this returns; how many. A link is replaced.

    `confirm` is called when all is written but the name; if it raises, `path` is as it was, as after an OSError.
    """
    return _replace(path, _encoded(lines), confirm)


def free_name(path: Path, named: str) -> Path:
    """The first name beside `path` that nothing has: `named` says how, by {name}, {stem}, {suffix} and {number}."""
    for number in count(1):
        free = path.with_name(named.format(name=path.name, stem=path.stem, suffix=path.suffix, number=number))
        if not free.exists():
            break
    return free


def flush_folder(folder: Path) -> None:
    """Waits until the names in `folder` are on disk, where the system can be asked for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def cannot_write(path: Path, error: OSError, remedy: str) -> AttnError:
    """The error for a place that cannot be written: `remedy` helps if the place is unfit, space if there is none."""
    if error.errno in NO_ROOM:
        return EnvironmentFailure(f"cannot write {path} ({error.strerror}); free some disk space and try again")
    remedy = remedy_for(error, remedy)
    return UsageError(f"cannot write {path} ({error.strerror}); {remedy}")


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    return (line.encode("utf-8") for line in lines)


def _write(path: Path, pieces: Iterable[bytes]) -> int:
    path = path.resolve()
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            return _written(file, pieces)
    return _replace(path, pieces, lambda: None)


def _replace(path: Path, pieces: Iterable[bytes], confirm: Callable[[], None]) -> int:
    part = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        with part.open("xb") as file:
            _forget_older(path, part)
            count = _written(file, pieces)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file():
            part.chmod(path.stat().st_mode & 0o777)
        confirm()
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)
    return count


def _written(file: IO[bytes], pieces: Iterable[bytes]) -> int:
    count = 0
    for piece in pieces:
        file.write(piece)
        count += 1
    return count


def _forget_older(path: Path, part: Path) -> None:
    """Removes what a killed run left: parts of the same file that are much older than this one."""
    now = part.stat().st_mtime
    for old in path.parent.glob(f".{_literal(path.name)}.*.part"):
        with suppress(OSError):
            if now - old.stat().st_mtime > FORGOTTEN_SECONDS:
                old.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
