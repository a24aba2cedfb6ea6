"""Load the files of a challenge by path, as the judge does."""

import sys
from collections.abc import Collection, Iterable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import pytest
import torch

IMPL = Path(__file__).parents[2] / "impl"


def load(path: Path) -> ModuleType:
    module = ModuleType(path.stem.replace("-", "_"))
    with patch.dict(sys.modules, {module.__name__: module}):  # where a dataclass looks up its annotations
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def by_content(paths: Iterable[Path]) -> list[Path]:
    """Sort folders by a hash of their files: the first of them are a sample."""
    return sorted(paths, key=lambda path: sha256(b"".join(f.read_bytes() for f in sorted(path.glob("*.py")))).digest())


def sampled(paths: Iterable[Path], share: int, always: Collection[Path] = ()) -> pytest.MarkDecorator:
    """Run the test for each folder; in `make test` for `always` and one in `share`, chosen by its files' content."""
    ordered = by_content(paths)
    chosen = {*ordered[: len(ordered) // share], *always}
    marked = [pytest.param(path, id=path.name, marks=() if path in chosen else pytest.mark.full) for path in ordered]
    return pytest.mark.parametrize("path", marked)


@pytest.fixture(autouse=True)
def one_thread_and_a_seed() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
