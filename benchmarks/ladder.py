"""Run every wrong solution of every piece in the engine of `attn ladder`; print how often its piece is named.

    python benchmarks/ladder.py [ID...] [--mixes 10] [--with-others] [--show]

A wrong solution that misses *solved* must be named, and nothing else. A right one must run, as must random mixes of
right solutions and references. `--with-others` adds three right pieces of the learner's to the wrong one.
Exit 1 below 95 of 100, or if a right solution is blamed. The result of each file is stored in
`benchmarks/results/ladder.json`; a test compares the figure in docs/challenges.md with it.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from attncli.ladder import BY_ID, PIECES, Engines, Files, Piece, climb, describe_difference
from attncli.paths import bundled_impl
from attncli.sandbox.zygote_client import ZygoteClient

VERIFIED = Path(__file__).parent.parent / "tests" / "verified.json"
RESULTS = Path(__file__).parent / "results" / "ladder.json"
LEAST = 0.95
BESIDE = 3


def wrong_files(piece: Piece) -> Iterator[Path]:
    """Yield the wrong files that miss *solved*, as recorded by `attn verify`."""
    recorded = json.loads(VERIFIED.read_text(encoding="utf-8"))[piece.id]["failed"]
    for path in files_of(piece, "wrong"):
        if recorded.get(path.stem, ["", "solved"])[1] == "solved":
            yield path


def files_of(piece: Piece, kind: str) -> list[Path]:
    return sorted((bundled_impl() / piece.track / piece.id / kind).glob("*.py"))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def mix(draw: random.Random, ids: list[str]) -> dict[str, str]:
    """Draw a right solution for each of these pieces."""
    return {id: text_of(draw.choice(files_of(BY_ID[id], "right"))) for id in ids}


def named(engines: Engines, piece: Piece, show: bool, others: bool) -> dict[str, bool]:
    """Return for each wrong file of a piece whether its piece is named, and no other."""
    seen = {}
    for path in wrong_files(piece):
        draw = random.Random(path.stem)
        beside = draw.sample([id for id in BY_ID if id != piece.id], BESIDE) if others else []
        found = climb(engines, {**mix(draw, beside), piece.id: text_of(path)})
        seen[path.stem] = found.broken == {piece.id}
        if not seen[path.stem]:
            print(f"  {piece.id}/{path.stem}: {sorted(found.broken) or 'nobody'} named", flush=True)
        elif show:
            print(f"  {piece.id}/{path.stem}: {describe_difference(found.blames[0].difference).en}", flush=True)
    return seen


def blamed(engines: Engines, own: dict[str, str], name: str) -> bool:
    """Print each blame of right pieces; return True if there is any."""
    found = climb(engines, own)
    for blame in found.blames:
        print(f"  {name}: {blame.pieces} blamed: {describe_difference(blame.difference).en}", flush=True)
    return bool(found.blames)


def measured(engines: Engines, piece: Piece, show: bool, others: bool) -> dict[str, list[str]]:
    """Return the files of a piece by result: wrong ones named or missed, right ones run or blamed."""
    begun = time.perf_counter()
    wrong = named(engines, piece, show, others)
    right = {
        path.stem: not blamed(engines, {piece.id: text_of(path)}, f"{piece.id}/{path.stem}")
        for path in files_of(piece, "right")
    }
    print(
        f"{piece.id}: {sum(wrong.values())} of {len(wrong)} named, "
        f"{sum(right.values())} of {len(right)} right ones run, {time.perf_counter() - begun:.0f} s",
        flush=True,
    )
    sorts = (("named", wrong, True), ("missed", wrong, False), ("run", right, True), ("blamed", right, False))
    return {sort: [name for name, good in of.items() if good is kept] for sort, of, kept in sorts}


def blamed_mixes(engines: Engines, mixes: int) -> list[int]:
    """Return the numbers of the mixes of right pieces and references in which a piece is blamed."""
    found = []
    for seed in range(mixes):
        draw = random.Random(seed)
        drawn = draw.sample(sorted(BY_ID), draw.randint(2, len(BY_ID)))
        if blamed(engines, mix(draw, drawn), f"mix {seed}"):
            found.append(seed)
    return found


def kept(found: dict[str, dict[str, list[str]]]) -> None:
    """Store the results of this run, with date and versions, in place of earlier ones of the same pieces."""
    RESULTS.parent.mkdir(exist_ok=True)
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    ran_on = {
        "on": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "system": f"{platform.system()} {platform.machine()}",
    }
    now = {**before, **{id: {**ran_on, **one} for id, one in found.items()}}
    ordered = {piece.id: now[piece.id] for piece in PIECES if piece.id in now}
    RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--mixes", type=int, default=10)
    parser.add_argument("--with-others", action="store_true")
    parser.add_argument("--show", action="store_true", help="where each wrong solution showed")
    options = parser.parse_args()
    with ZygoteClient.start() as zygote:
        engines = Engines(Files(bundled_impl()), zygote.worker)
        found = {
            piece.id: measured(engines, piece, options.show, options.with_others)
            for piece in PIECES
            if not options.ids or piece.id in options.ids
        }
        mixes_blamed = blamed_mixes(engines, options.mixes)
    count = {sort: sum(len(one[sort]) for one in found.values()) for sort in ("named", "missed", "run", "blamed")}
    total, wrongly = count["named"] + count["missed"], count["blamed"] + len(mixes_blamed)
    share = count["named"] / total if total else 1.0
    print(f"in all: {count['named']} of {total} named ({share:.1%})")
    rights = count["run"] + count["blamed"]
    print(f"right: {rights} solutions alone and {options.mixes} mixes, {wrongly} of them blamed")
    if not options.with_others:
        kept(found)
    return 0 if share >= LEAST and not wrongly else 1


if __name__ == "__main__":
    sys.exit(main())
