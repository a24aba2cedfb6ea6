"""Homes, the bundled folders, and files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from attncli import paths
from attncli.__main__ import main
from attncli.errors import EnvironmentFailure, UsageError
from attncli.paths import cannot_write, write_bytes, write_text, write_whole


def test_a_checkout_is_told_from_an_installed_wheel_which_uses_its_own_copy(tmp_path: Path) -> None:
    package = tmp_path / "attncli"
    package.mkdir()
    assert not paths.in_checkout(package)
    (tmp_path / "pyproject.toml").touch()
    assert paths.in_checkout(package)
    assert (paths.bundled_quizbank(package), paths.bundled_impl(package)) == (tmp_path / "quizbank", tmp_path / "impl")
    for name in ("quizbank", "impl"):
        (package / "_data" / name).mkdir(parents=True)
    assert not paths.in_checkout(package)
    assert paths.bundled_quizbank(package) == package / "_data" / "quizbank"
    assert paths.bundled_impl(package) == package / "_data" / "impl"
    assert paths.bundled_quizbank().is_dir() and paths.bundled_impl().is_dir(), "this checkout has both"


def test_the_option_wins_over_the_environment_of_which_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    environ = {"ATTN_HOME": str(tmp_path / "environment")}
    assert paths.home(tmp_path / "option", environ).root == tmp_path / "option"
    assert paths.home(None, environ).root == tmp_path / "environment"
    assert paths.home(None, {"ATTN_HOME": ""}).root == paths.home(None, {}).root
    assert paths.home(None, {}).root.name == "attncli"
    assert paths.home(Path("here"), {}).root.is_absolute()
    names = [path.name for path in tmp_path.iterdir()]
    assert names == [], "nothing is created"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


on_unix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes")


@on_unix
def test_a_folder_with_nothing_but_attn_s_is_its_owner_s_alone_and_others_stay_as_they_are(tmp_path: Path) -> None:
    home = paths.Home(tmp_path / "home")
    home.keep_private()
    assert not home.root.exists()
    for name in ("solutions", "history", "damaged"):
        (home.root / name).mkdir(parents=True)
    for name in ("cache.db", "cache.db-wal", "machine.json", "config.toml", ".hidden"):
        (home.root / name).touch()
    home.root.chmod(0o775)
    home.keep_private()
    assert mode(home.root) == 0o700
    for name, before in (("thesis.tex", 0o755), ("cache.db", 0o1777), ("cache.db", 0o500)):
        folder = tmp_path / f"{name}-{before}"
        folder.mkdir()
        (folder / name).touch()
        folder.chmod(before)
        paths.Home(folder).keep_private()
        assert mode(folder) == before
        folder.chmod(0o700)


@on_unix
def test_the_folder_that_a_command_makes_is_its_owner_s_alone(
    tmp_path: Path, small_bank: Path, small_impl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "bundled_quizbank", lambda: small_bank)
    monkeypatch.setattr(paths, "bundled_impl", lambda: small_impl)
    for number, words in enumerate((["due"], ["config", "lang", "zh"], ["suspend", "att-01"])):
        assert main(["--home", str(tmp_path / f"home{number}"), *words]) == 0
        assert mode(tmp_path / f"home{number}") == 0o700


def test_a_tilde_is_the_users_folder_wherever_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.home(Path("~/x"), {}).root == tmp_path / "x" == paths.home(None, {"ATTN_HOME": "~/x"}).root
    assert paths.expanded("~/sub/a.py") == str(tmp_path / "sub" / "a.py")
    assert paths.expanded("./~/a.py") == "./~/a.py" and paths.expanded("~no-such-user/a") == "~no-such-user/a"


def test_a_home_that_can_only_be_a_slip_is_refused_before_anything_is_created(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no user on this machine matches .*; write the full path"):
        paths.home(Path("~no-such-user/x"), {})
    with pytest.raises(UsageError, match=r"cannot create .*: there is no folder .*mistyped; create it"):
        paths.home(None, {"ATTN_HOME": str(tmp_path / "mistyped" / "home")})
    assert not list(tmp_path.iterdir())
    assert paths.home(tmp_path / "new", {}).root == tmp_path / "new"
    assert paths.home(tmp_path / ("a" * 300), {}).root.name == "a" * 300, "the system says what is wrong with it"


def test_what_is_written_is_there_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "a[1].txt"
    assert write_whole(file, ["one\n", "two\n"]) == 2 and write_whole(file, ["three\n"]) == 1
    assert file.read_text() == "three\n" and list(tmp_path.iterdir()) == [file]


def test_it_is_on_disk_before_it_gets_its_name_and_then_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_no_room_and_an_unfit_place_are_told_apart_with_what_helps() -> None:
    full = cannot_write(Path("f"), OSError(errno.ENOSPC, "No space left on device"), "name another")
    assert isinstance(full, EnvironmentFailure) and "free some disk space" in str(full)
    for number, remedy in {
        errno.ENAMETOOLONG: "choose a shorter path",
        errno.ENOTDIR: "choose another path",
        errno.ELOOP: "choose another path",
        errno.EISDIR: "give a file, not a folder",
        errno.EROFS: "choose a writable location",
        errno.EMFILE: "close other programs and try again",
        errno.EACCES: "make its folder writable",
    }.items():
        error = cannot_write(Path("a"), OSError(number, os.strerror(number)), "make its folder writable")
        assert str(error) == f"cannot write a ({os.strerror(number)}); {remedy}" and isinstance(error, UsageError)


def test_texts_and_bytes_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, deck = tmp_path / "new" / "folder" / "a.yaml", tmp_path / "a.apkg"
    write_text(file, "问\n", "name another")
    assert file.read_bytes() == "问\n".encode()
    with pytest.raises(UsageError, match=r"cannot write .*/a.yaml/b.yaml \(.*\); move that file out of the way"):
        write_text(file / "b.yaml", "x", "name another")
    write_bytes(deck, b"old")
    deck.chmod(0o600)
    write_bytes(deck, b"new")
    assert deck.read_bytes() == b"new" and stat.S_IMODE(deck.stat().st_mode) == 0o600

    def fail(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EnvironmentFailure, match="free some disk space"):
        write_text(file, "newer", "name another")
    with pytest.raises(OSError, match="No space left"):
        write_bytes(deck, b"newer")
    assert file.read_bytes() == "问\n".encode() and list(file.parent.iterdir()) == [file]
    assert deck.read_bytes() == b"new" and sorted(tmp_path.iterdir()) == [deck, tmp_path / "new"]
