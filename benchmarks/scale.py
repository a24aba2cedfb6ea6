"""Print how commands scale from 1,000 reviews of 100 cards to 1,000,000 of 100,000, both measured in this run.

    python benchmarks/scale.py                          half an hour, most of it to write the large home
    python benchmarks/scale.py --reviews 100000         ten reviews a card, as always
    python benchmarks/scale.py --keep DIR               keeps the homes in DIR, and takes them from there if they exist

Each command is a whole process. A row gives the ratio of processor times, each the least of several runs.
`first sync` writes the whole log into an empty folder and `plan` looks at every card: these two grow with the home.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

from large_home import NOW, fill
from timing import ATTN, cpu_seconds

FEW = 1_000
A_CARD = 10
CARD = "gen000-000007"
COMMANDS = {
    "due": ["due"],
    "answer": ["answer", CARD, "--rating", "good"],
    "undo": ["undo"],
    "stats": ["stats"],
    "plan": ["plan", "--interview", f"{NOW + timedelta(days=30):%Y-%m-%d}"],
    "export summary": ["export", "summary", "-o", "summary.md"],
    "first sync": ["sync", "empty"],
    "sync": ["sync", "shared"],
    "optimize": ["optimize"],
}
ONCE = {"optimize"}
"""The command stores a fit and then requires new reviews, so its run is undone."""


def home(folder: Path, reviews: int) -> dict[str, str]:
    """Return the environment of a home with `reviews` reviews; make it if it is missing."""
    place = folder / f"reviews-{reviews}"
    if not (place / "filled").exists():
        place.mkdir(parents=True, exist_ok=True)
        fill(place, max(1, reviews // A_CARD), reviews)
        (place / "filled").touch()
    (place / "shared").mkdir(exist_ok=True)
    return {"ATTN_HOME": str(place)}


def measure(folder: Path, reviews: int, runs: int, only: list[str]) -> None:
    small, large = home(folder, FEW), home(folder, reviews)
    for name, words in COMMANDS.items():
        if only and name not in only:
            continue
        times = 1 if name in ONCE else runs
        few, many = (min(_cpu_seconds(words, where) for _ in range(times)) for where in (small, large))
        for where in (small, large) if name in ONCE else ():
            _cpu_seconds(["undo"], where)
        told = f"({few:.2f} s → {many:.2f} s)"
        print(f"{many / few:8.2f} ×   {name:16} {reviews} reviews / {FEW} {told}", flush=True)


def _cpu_seconds(words: list[str], environment: dict[str, str]) -> float:
    home = Path(environment["ATTN_HOME"])
    shutil.rmtree(home / "empty", ignore_errors=True)
    (home / "empty").mkdir()
    placed = [str(home / word) if word in ("shared", "empty", "summary.md") else word for word in words]
    return cpu_seconds([*ATTN, *placed], environment)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5, help="runs to take the least of")
    parser.add_argument("--keep", type=Path, help="where the homes are kept")
    parser.add_argument("--only", nargs="*", default=[], choices=list(COMMANDS))
    options = parser.parse_args()
    if options.keep:
        measure(options.keep, options.reviews, options.runs, options.only)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), options.reviews, options.runs, options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
