from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attncli import paths
from attncli.__main__ import main
from attncli.errors import UsageError


def test_a_checkout_is_told_from_an_installed_wheel(tmp_path: Path) -> None:
    package = tmp_path / "attncli"
    package.mkdir()
    assert not paths.in_checkout(package)
    (tmp_path / "pyproject.toml").touch()
    assert paths.in_checkout(package)
    (package / "_data").mkdir()
    assert not paths.in_checkout(package)


def test_a_checkout_is_used_when_the_package_carries_no_data(tmp_path: Path) -> None:
    assert paths.bundled_quizbank(tmp_path / "attncli") == tmp_path / "quizbank"
    assert paths.bundled_impl(tmp_path / "attncli") == tmp_path / "impl"


def test_an_installed_package_uses_its_own_copy_whatever_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name in ("quizbank", "impl"):
        (tmp_path / "attncli" / "_data" / name).mkdir(parents=True)
    assert paths.bundled_quizbank(tmp_path / "attncli") == tmp_path / "attncli" / "_data" / "quizbank"
    assert paths.bundled_impl(tmp_path / "attncli") == tmp_path / "attncli" / "_data" / "impl"


def test_this_checkout_has_both_folders() -> None:
    assert paths.bundled_quizbank().is_dir()
    assert paths.bundled_impl().is_dir()


def test_the_option_wins_over_the_environment(tmp_path: Path) -> None:
    environ = {"ATTN_HOME": str(tmp_path / "environment")}
    assert paths.home(tmp_path / "option", environ).root == tmp_path / "option"
    assert paths.home(None, environ).root == tmp_path / "environment"


def test_an_empty_variable_counts_as_unset() -> None:
    assert paths.home(None, {"ATTN_HOME": ""}).root == paths.home(None, {}).root
    assert paths.home(None, {}).root.name == "attncli"


def test_a_relative_home_does_not_depend_on_a_later_change_of_folder() -> None:
    assert paths.home(Path("here"), {}).root.is_absolute()


def test_everything_of_a_learner_lies_under_the_root_and_nothing_is_created(tmp_path: Path) -> None:
    home = paths.home(tmp_path / "home", {})
    names = [home.database, home.config, home.banks, home.challenges, home.solutions, home.log]
    assert [path.name for path in names] == ["cache.db", "config.toml", "banks", "challenges", "solutions", "log"]
    assert all(path.parent == home.root for path in names)
    assert not home.root.exists()


def test_platformdirs_is_not_loaded_when_the_home_is_named() -> None:
    code = (
        "import sys; from attncli import paths; paths.home(None, {'ATTN_HOME': '/tmp/x'}); "
        "sys.exit('platformdirs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


on_unix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no modes")


@on_unix
def test_a_folder_with_nothing_but_attn_s_is_its_owner_s_alone(tmp_path: Path) -> None:
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


@on_unix
@pytest.mark.parametrize(("name", "before"), [("thesis.tex", 0o755), ("cache.db", 0o1777), ("cache.db", 0o500)])
def test_a_folder_that_is_for_others_too_stays_as_it_is(tmp_path: Path, name: str, before: int) -> None:
    (tmp_path / name).touch()
    tmp_path.chmod(before)
    paths.Home(tmp_path).keep_private()
    assert mode(tmp_path) == before
    tmp_path.chmod(0o700)


@on_unix
@pytest.mark.parametrize("words", [["due"], ["config", "lang", "zh"], ["suspend", "att-01"]])
def test_the_folder_that_a_command_makes_is_its_owner_s_alone(tmp_path: Path, words: list[str]) -> None:
    assert main(["--home", str(tmp_path / "home"), *words]) == 0
    assert mode(tmp_path / "home") == 0o700


def test_a_tilde_is_the_folder_of_the_user_wherever_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
