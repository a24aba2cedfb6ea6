"""Takes the collection out of an Anki package: one member of a zip archive, by its name, and never more than a limit.

A package is a zip archive. The collection is its member `collection.anki21b` (Zstandard), `collection.anki21` or
`collection.anki2`; a newer package holds an older member too, which only says that Anki is to be updated. No name in
the archive becomes a path, and pictures and sounds are not unpacked.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from attncli.errors import EnvironmentFailure, StoreError, UsageError

ZSTANDARD = "collection.anki21b"
MEMBERS = (ZSTANDARD, "collection.anki21", "collection.anki2")
LARGEST_COLLECTION = 2**30
LARGEST_GROWTH = 200
"""A database shrinks to a tenth; what grows much more on its way out was made to."""
GROWTH_FREE = 64 * 2**20
MOST_MEMBERS = 500_000
STEP = 2**20
EXPORT = "export it from Anki again (File → Export, an .apkg or .colpkg)"
OLDER = "tick “Support older Anki versions” when you export"


class NoZstandard(UsageError):
    """The package is of the newer kind, and nothing here reads it."""


def unpacked(package: Path, folder: Path) -> Path:
    """The database of `package`, unpacked into `folder`, a private one.

    Raises UsageError for what is no package, damaged, or grows beyond all measure; StoreError where there is no room.
    """
    try:
        with package.open("rb") as file, zipfile.ZipFile(file) as archive:
            return _taken_out(archive, package, folder / "collection.db")
    except OSError as error:
        raise UsageError(f"cannot read {package} ({error.strerror or error}); {EXPORT}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        said = " ".join(str(error).split())[:100]
        raise UsageError(f"{package} is no Anki package, or a damaged one ({said}); {EXPORT}") from error


def _taken_out(archive: zipfile.ZipFile, package: Path, target: Path) -> Path:
    members = archive.infolist()
    if len(members) > MOST_MEMBERS:
        raise UsageError(f"{package} has {len(members)} files inside, which no collection has; {EXPORT}")
    found = {member.filename: member for member in members if member.filename in MEMBERS}
    name = next((name for name in MEMBERS if name in found), "")
    if not name:
        raise UsageError(f"{package} holds no Anki collection; {EXPORT}")
    packed = found[name].compress_size
    with archive.open(found[name]) as member, _readable(member, name, package) as stream:
        _copy(stream, target, packed, package)
    return target


@contextmanager
def _readable(member: IO[bytes], name: str, package: Path) -> Iterator[IO[bytes]]:
    if name != ZSTANDARD:
        yield member
        return
    with _zstandard(member, package) as (stream, failure):
        try:
            yield stream
        except failure as error:
            raise UsageError(f"{package} is a damaged Anki package ({error}); {EXPORT}") from error


@contextmanager
def _zstandard(member: IO[bytes], package: Path) -> Iterator[tuple[IO[bytes], type[Exception]]]:
    """A stream of what was packed, by Python's own module (3.14), or by the package `zstandard`."""
    with suppress(ImportError):
        module: Any = import_module("compression.zstd")
        yield module.ZstdFile(member), module.ZstdError
        return
    try:
        import zstandard
    except ImportError:
        raise NoZstandard(
            f"{package} is a package of a newer Anki; {OLDER}, or have it read here: pip install 'attncli[anki]'"
        ) from None
    yield zstandard.ZstdDecompressor().stream_reader(member, read_size=STEP), zstandard.ZstdError


def _copy(stream: IO[bytes], target: Path, packed: int, package: Path) -> None:
    most = min(LARGEST_COLLECTION, max(GROWTH_FREE, packed * LARGEST_GROWTH))
    size = 0
    with _written(target) as file:
        while part := stream.read(STEP):
            size += len(part)
            if size > most:
                raise UsageError(
                    f"{package} unpacks to more than {most // 2**20} MiB, which no collection does; {EXPORT}"
                )
            file.write(part)


@contextmanager
def _written(target: Path) -> Iterator[IO[bytes]]:
    try:
        file = _opened(target)
    except OSError as error:
        raise StoreError(f"cannot write {target} ({error.strerror}); free some disk space and try again") from error
    with _Guarded(file) as guarded:
        yield guarded


def _opened(target: Path) -> IO[bytes]:
    return target.open("xb")


class _Guarded:
    """A file whose failures are those of this disk, and not of the package that is read meanwhile."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __enter__(self) -> IO[bytes]:
        return cast(IO[bytes], self)

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, part: bytes) -> int:
        try:
            return self._file.write(part)
        except OSError as error:
            raise EnvironmentFailure(
                f"cannot unpack the collection ({error.strerror}); free some disk space and try again"
            ) from error
