"""Write files atomically: the old content or the new one exists, and no partial file is left."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from attncli.errors import EnvironmentFailure, UsageError
from attncli.paths import cannot_write, write_bytes, write_text, write_whole


def test_what_is_written_is_there_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a[1].txt"
    assert write_whole(file, ["one\n", "two\n"]) == 2 and write_whole(file, ["three\n"]) == 1
    assert file.read_text() == "three\n" and list(tmp_path.iterdir()) == [file]


def test_it_is_on_disk_before_it_gets_its_name_and_the_name_after_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, done = tmp_path / "a.txt", list[str]()
    sync = os.fsync

    def watched(handle: int) -> None:
        done.append(f"{'folder' if stat.S_ISDIR(os.fstat(handle).st_mode) else 'content'} {file.exists()}")
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    write_whole(file, ["x"])
    assert done == ["content False", "folder True"]


@pytest.mark.parametrize("failing", ["lines", "fsync"])
def test_whatever_fails_the_old_content_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")

    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def lines() -> object:
        yield "new"
        fail()

    if failing == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_whole(file, lines() if failing == "lines" else ["new"])  # type: ignore[arg-type]
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="needs links and modes")
def test_a_link_stays_a_link_and_the_mode_stays(tmp_path: Path) -> None:
    file, link = tmp_path / "dotfiles" / "config.toml", tmp_path / "config.toml"
    file.parent.mkdir()
    file.write_text("old")
    file.chmod(0o600)
    link.symlink_to(file)
    write_whole(link, ["new"])
    assert link.is_symlink() and file.read_text() == "new" and stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="needs devices")
def test_a_device_is_written_to_and_not_replaced() -> None:
    before = Path("/dev/null").stat()
    assert write_whole(Path("/dev/null"), ["x"]) == 1
    assert Path("/dev/null").stat().st_ino == before.st_ino


def test_parts_of_dead_runs_are_removed_and_young_ones_left(tmp_path: Path) -> None:
    dead, young, other = (tmp_path / name for name in (".a.txt.1.part", ".a.txt.2.part", ".b.txt.3.part"))
    for part in (dead, young, other):
        part.write_text("")
    for part in (dead, other):
        os.utime(part, (1_000_000, 1_000_000))
    write_whole(tmp_path / "a.txt", ["x"])
    assert not dead.exists() and young.exists() and other.exists()


def test_no_room_and_an_unfit_place_are_told_apart() -> None:
    full = cannot_write(Path("f"), OSError(errno.ENOSPC, "No space left on device"), "name another")
    assert isinstance(full, EnvironmentFailure) and "free some disk space" in str(full)
    unfit = cannot_write(Path("f"), OSError(errno.EACCES, "Permission denied"), "name another")
    assert isinstance(unfit, UsageError) and str(unfit) == "cannot write f (Permission denied); name another"


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENAMETOOLONG, "choose a shorter path"),
        (errno.ENOTDIR, "choose another path"),
        (errno.ELOOP, "choose another path"),
        (errno.EISDIR, "give a file, not a folder"),
        (errno.EROFS, "choose a writable location"),
        (errno.EMFILE, "close other programs and try again"),
        (errno.EACCES, "make its folder writable"),
    ],
)
def test_what_helps_fits_what_is_wrong(number: int, remedy: str) -> None:
    error = cannot_write(Path("a"), OSError(number, os.strerror(number)), "make its folder writable")
    assert str(error) == f"cannot write a ({os.strerror(number)}); {remedy}" and isinstance(error, UsageError)


def test_a_text_is_put_into_a_folder_that_comes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "folder" / "a.yaml"
    write_text(file, "问\n", "name another")
    assert file.read_bytes() == "问\n".encode()
    with pytest.raises(UsageError, match=r"cannot write .*/a.yaml/b.yaml \(.*\); move that file out of the way"):
        write_text(file / "b.yaml", "x", "name another")

    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EnvironmentFailure, match="free some disk space"):
        write_text(file, "newer", "name another")
    assert file.read_bytes() == "问\n".encode() and list(file.parent.iterdir()) == [file]


def test_bytes_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.apkg"
    write_bytes(file, b"old")
    file.chmod(0o600)
    write_bytes(file, b"new")
    assert file.read_bytes() == b"new" and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]

    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        write_bytes(file, b"newer")
    assert file.read_bytes() == b"new" and list(tmp_path.iterdir()) == [file]
