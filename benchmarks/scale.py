"""Prints how commands grow from 1,000 reviews of 100 cards to 1,000,000 of 100,000, both measured in this run.

    python benchmarks/scale.py                          some twenty minutes, most of them to write the large home
    python benchmarks/scale.py --reviews 100000         ten reviews a card, as always
    python benchmarks/scale.py --keep DIR               keeps the homes in DIR, and takes them from there if they exist

Each command is a whole process; the row says how many times as long it takes, and how long with few reviews.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from large_home import fill
from timing import ATTN, ratio, seconds

FEW = 1_000
A_CARD = 10
CARD = "gen000-000007"
COMMANDS = {
    "due": ["due"],
    "answer": ["answer", CARD, "--rating", "good"],
    "undo": ["undo"],
    "stats": ["stats"],
    "export summary": ["export", "summary", "-o", "summary.md"],
    "sync": ["sync", "shared"],
    "optimize": ["optimize"],
}


def home(folder: Path, reviews: int) -> dict[str, str]:
    """The environment of a home with so many reviews, made where it is not there yet."""
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
        few, many = ([*ATTN, *(_placed(word, where) for word in words)] for where in (small, large))
        growth = ratio(many, few, runs, large, small)
        print(f"{growth:8.2f} ×   {name:16} {reviews} reviews / {FEW} ({seconds(few, small):.2f} s)", flush=True)


def _placed(word: str, environment: dict[str, str]) -> str:
    return str(Path(environment["ATTN_HOME"]) / word) if word in ("shared", "summary.md") else word


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5, help="pairs to take the median of")
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
