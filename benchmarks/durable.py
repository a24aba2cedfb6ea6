"""Print the cost of recording a review, relative to a bare append with fsync and a bare SQLite insert with full sync.

Both are medians of the ratios.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from attncli import paths
from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.practice.workspace import Workspace

PAIRS = 60


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode=WAL")
        bare.execute("PRAGMA synchronous=FULL")
        bare.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT)")
        home = paths.home(Path(folder) / "home", {})
        with (
            (Path(folder) / "bare.jsonl").open("ab") as file,
            Workspace.open(home, lambda: datetime.now(UTC)) as workspace,
        ):
            cards = [card.id for card in workspace.library.cards()]
            record.answer(workspace, cards[0], Rating.GOOD)
            ratios = []
            for card in cards[1 : PAIRS + 1]:
                review = _seconds(partial(record.answer, workspace, card, Rating.GOOD))
                append = _seconds(lambda: _append(file))
                insert = _seconds(lambda: bare.execute("INSERT INTO log (text) VALUES (?)", ("x" * 80,)))
                ratios.append((review / append, review / insert))
    print(*(f"{statistics.median(each):.2f}" for each in zip(*ratios, strict=True)))


def _append(file: BinaryIO) -> None:
    file.write(b"x" * 200 + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
