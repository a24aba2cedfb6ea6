"""Loads the files of a challenge by path, as the judge does."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch

IMPL = Path(__file__).parents[2] / "impl"


def load(path: Path) -> ModuleType:
    module = ModuleType(path.stem.replace("-", "_"))
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


@pytest.fixture(autouse=True)
def one_thread_and_a_seed() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
