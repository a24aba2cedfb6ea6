"""Puts every wrong solution of every piece into the engine of `attn ladder`, and prints how often its piece is named.

    python benchmarks/ladder.py [ID...] [--mixes 10] [--with-others] [--show]

A wrong solution that misses *solved* has to be named, and nothing else; a right one has to run; so do random mixes of
right solutions and references. `--with-others` gives the wrong piece three right ones of the learner's beside it.
Exit 1 below 95 of 100, or where a right solution is blamed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from attncli.ladder.blame import Engines, climb
from attncli.ladder.engine_run import Files
from attncli.ladder.pieces import BY_ID, PIECES, Piece
from attncli.ladder.told_climb import where
from attncli.paths import bundled_impl
from attncli.sandbox.zygote_client import ZygoteClient

FIRST_FAILURES = Path(__file__).parent.parent / "tests" / "first_failures.json"
LEAST = 0.95
BESIDE = 3


def wrong_files(piece: Piece) -> Iterator[Path]:
    """Those that miss *solved*, as `attn verify` has recorded it."""
    recorded = json.loads(FIRST_FAILURES.read_text(encoding="utf-8"))[piece.id]
    for path in files_of(piece, "wrong"):
        if recorded.get(path.stem, ["", "solved"])[1] == "solved":
            yield path


def files_of(piece: Piece, kind: str) -> list[Path]:
    return sorted((bundled_impl() / piece.track / piece.id / kind).glob("*.py"))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def mix(draw: random.Random, ids: list[str]) -> dict[str, str]:
    """A right solution, drawn, for each of these pieces."""
    return {id: text_of(draw.choice(files_of(BY_ID[id], "right"))) for id in ids}


def named(engines: Engines, piece: Piece, show: bool, others: bool) -> tuple[int, int]:
    """How many wrong files of a piece are named, exactly, and of how many."""
    count = good = 0
    for path in wrong_files(piece):
        draw = random.Random(path.stem)
        beside = draw.sample([id for id in BY_ID if id != piece.id], BESIDE) if others else []
        found = climb(engines, {**mix(draw, beside), piece.id: text_of(path)})
        count += 1
        good += found.broken == {piece.id}
        if found.broken != {piece.id}:
            print(f"  {piece.id}/{path.stem}: {sorted(found.broken) or 'nobody'} named", flush=True)
        elif show:
            print(f"  {piece.id}/{path.stem}: {where(found.blames[0].difference, 'en')}", flush=True)
    return good, count


def blamed(engines: Engines, own: dict[str, str], name: str) -> bool:
    """Whether right pieces are blamed, which is said."""
    found = climb(engines, own)
    for blame in found.blames:
        print(f"  {name}: {blame.pieces} blamed: {where(blame.difference, 'en')}", flush=True)
    return bool(found.blames)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--mixes", type=int, default=10)
    parser.add_argument("--with-others", action="store_true")
    parser.add_argument("--show", action="store_true", help="where each wrong solution showed")
    options = parser.parse_args()
    pieces = [piece for piece in PIECES if not options.ids or piece.id in options.ids]
    total, all_named, rights, wrongly = 0, 0, 0, 0
    with ZygoteClient.start() as zygote:
        engines = Engines(Files(bundled_impl()), zygote.worker)
        for piece in pieces:
            begun = time.perf_counter()
            good, count = named(engines, piece, options.show, options.with_others)
            right = files_of(piece, "right")
            refused = sum(blamed(engines, {piece.id: text_of(path)}, f"{piece.id}/{path.stem}") for path in right)
            total, all_named, rights, wrongly = total + count, all_named + good, rights + len(right), wrongly + refused
            seconds = time.perf_counter() - begun
            print(
                f"{piece.id}: {good} of {count} named, {len(right) - refused} of {len(right)} right ones run, "
                f"{seconds:.0f} s",
                flush=True,
            )
        for seed in range(options.mixes):
            draw = random.Random(seed)
            wrongly += blamed(
                engines, mix(draw, draw.sample(sorted(BY_ID), draw.randint(2, len(BY_ID)))), f"mix {seed}"
            )
    share = all_named / total if total else 1.0
    print(f"in all: {all_named} of {total} named ({share:.1%})")
    print(f"right: {rights} solutions alone and {options.mixes} mixes, {wrongly} of them blamed")
    return 0 if share >= LEAST and not wrongly else 1


if __name__ == "__main__":
    sys.exit(main())
