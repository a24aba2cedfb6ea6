"""The card files of a folder, read one by one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from attncli.bank.loader import BankFile, Document, bank_files, load_file
from attncli.paths import bundled_quizbank


def files_of(folder: Path, own: bool = False) -> list[BankFile]:
    return [load_file(path, own) for path in bank_files(folder)]


@cache
def bundled_files() -> tuple[BankFile, ...]:
    return tuple(files_of(bundled_quizbank()))


def bundled_documents() -> list[Document]:
    """Every bundled card."""
    return [document for file in bundled_files() for document in file.documents]
