"""Grant access to everything that Python and torch need, but to no folder that contains withheld files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.sandbox.landlock import Installation, outside

Factory = pytest.TempPathFactory
names = st.sampled_from("abc")
places = st.lists(st.lists(names, min_size=1, max_size=3).map("/".join), max_size=6)


@settings(max_examples=60)
@given(files=places, withheld=places)
def test_all_but_the_withheld_is_granted(tmp_path_factory: Factory, files: list[str], withheld: list[str]) -> None:
    root = tmp_path_factory.mktemp("tree").resolve()
    for name in files:
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "file").touch()
    barred = [root / name for name in withheld]
    granted = list(outside(root, barred))
    for file in root.rglob("file"):
        is_granted = any(file.is_relative_to(path) for path in granted)
        is_barred = any(file.is_relative_to(path) for path in barred)
        assert is_granted != is_barred, file
    assert not any(bar.is_relative_to(path) for path in granted for bar in barred)


def test_a_link_into_a_withheld_folder_is_not_granted(tmp_path: Path) -> None:
    secret, shown = tmp_path / "secret", tmp_path / "shown"
    for folder in (secret, shown, shown / "inner"):
        folder.mkdir()
    (shown / "link").symlink_to(secret)
    (shown / "dead").symlink_to(tmp_path / "nothing")
    assert list(outside(shown / "link", [secret])) == []
    assert list(outside(shown, [secret, shown / "inner"])) == []


def test_packages_and_the_library_around_them_are_granted_one_by_one(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3" / "site-packages"
    for name in "torch attncli hypothesis typing_extensions.py attncli-1.0.dist-info torch-2.0.dist-info".split():
        (site / name).mkdir(parents=True)
    (site / "attncli.pth").touch()
    (tmp_path / "lib" / "python3" / "json").mkdir()
    (tmp_path / "lib" / "libx.so").touch()
    installed = Installation([tmp_path / "lib"], [site], [site / "attncli"])
    (site,), lib, granted = installed.packages, tmp_path.resolve() / "lib", installed.readable()
    own = {path.relative_to(site).as_posix() for path in granted if path.is_relative_to(site)}
    assert own == {"torch", "torch-2.0.dist-info", "typing_extensions.py"}
    assert {lib / "python3" / "json", lib / "libx.so"} <= set(granted)
    assert not {lib, lib / "python3", lib / "python3" / "site-packages"} & set(granted)
    assert not any(inner != outer and inner.is_relative_to(outer) for inner in granted for outer in granted)


def test_packages_of_another_installation_are_not_granted(tmp_path: Path) -> None:
    base = tmp_path.resolve() / "python3.11"
    for name in ("json", "site-packages/attncli", "dist-packages/attncli"):
        (base / name).mkdir(parents=True)
    assert [path for path in Installation([base], [], []).readable() if path.is_relative_to(base)] == [base / "json"]
    above = Installation([base.parent], [], []).readable()
    assert [path for path in above if path.is_relative_to(base)] == [base / "json"]


def test_a_checkout_with_its_environment_inside_is_never_granted_whole(tmp_path: Path) -> None:
    checkout = tmp_path.resolve()
    site, reference = checkout / ".venv" / "lib" / "python3" / "site-packages", checkout / "impl" / "sdpa"
    for folder in (site / "torch", reference):
        folder.mkdir(parents=True)
    granted = Installation([], [site], [checkout / "impl"]).readable()
    assert site / "torch" in granted
    assert not any(reference.is_relative_to(path) for path in granted)
