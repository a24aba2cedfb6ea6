"""Fixtures for claims about libraries: the cards' texts, one thread for small tensors, and seeded random numbers."""

from collections.abc import Iterator
from functools import cache

import pytest
import torch
from torch import Tensor

from ..conftest import bundled_documents


@cache
def texts() -> dict[str, str]:
    return {document["id"]: str(document) for document in bundled_documents()}


def says(card: str, *words: str) -> None:
    """Fail with the words that the card lacks."""
    assert [word for word in words if word not in texts()[card]] == []


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def drawn_float32(seed: int, *shape: int) -> Tensor:
    return drawn(seed, *shape, dtype=torch.float32)


@pytest.fixture(autouse=True)
def small_tensors(one_thread: None) -> Iterator[None]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield
