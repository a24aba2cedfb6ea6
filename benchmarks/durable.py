"""Prints how many bare SQLite inserts with full sync one recorded review costs (the median over pairs)."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

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
        with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
            cards = [card.id for card in workspace.library.cards()]
            record.answer(workspace, cards[0], Rating.GOOD)
            ratios = []
            for number in range(PAIRS):
                start = time.perf_counter()
                record.answer(workspace, cards[number % len(cards)], Rating.GOOD)
                middle = time.perf_counter()
                bare.execute("INSERT INTO log (text) VALUES (?)", ("x" * 80,))
                ratios.append((middle - start) / (time.perf_counter() - middle))
    print(f"{statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
