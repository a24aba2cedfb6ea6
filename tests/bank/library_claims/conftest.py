"""Fixtures for claims about libraries: the cards' texts, and one thread for small tensors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attncli.bank.loader import bank_files, load_file
from attncli.paths import bundled_quizbank

Says = Callable[..., bool]


@pytest.fixture(scope="session")
def says() -> Says:
    """`says(card, *words)` returns True if the card has all the words, and fails with the missing ones."""
    documents = (document for path in bank_files(bundled_quizbank()) for document in load_file(path).documents)
    texts = {document["id"]: str(document) for document in documents}

    def check(card: str, *words: str) -> bool:
        assert [word for word in words if word not in texts[card]] == []
        return True

    return check


@pytest.fixture(autouse=True)
def _small_tensors(one_thread: None) -> None: ...
