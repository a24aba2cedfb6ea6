"""Load the files of a challenge by path, as the judge does."""

import sys
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


@pytest.fixture(autouse=True)
def one_thread_and_a_seed() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
