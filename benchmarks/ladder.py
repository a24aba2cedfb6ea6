"""Puts every wrong solution of every piece into the engine of `attn ladder`, and prints how often its piece is named.

    python benchmarks/ladder.py [ID...] [--mixes 10] [--with-others] [--show]

A wrong solution that misses *solved* has to be named, and nothing else; a right one has to run; so do random mixes of
right solutions and references. `--with-others` gives the wrong piece three right ones of the learner's beside it.
Exit 1 below 95 of 100, or where a right solution is blamed. What became of each file is kept in
`benchmarks/results/ladder.json`, which a test holds the figure in docs/challenges.md against.
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
    """Those that miss *solved*, as `attn verify` has recorded it."""
    recorded = json.loads(VERIFIED.read_text(encoding="utf-8"))[piece.id]["failed"]
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


def named(engines: Engines, piece: Piece, show: bool, others: bool) -> dict[str, bool]:
    """Of each wrong file of a piece whether its piece is named, and no other."""
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
    """Whether right pieces are blamed, which is said."""
    found = climb(engines, own)
    for blame in found.blames:
        print(f"  {name}: {blame.pieces} blamed: {describe_difference(blame.difference).en}", flush=True)
    return bool(found.blames)


def measured(engines: Engines, piece: Piece, show: bool, others: bool) -> dict[str, list[str]]:
    """The files of a piece by what became of them: wrong ones named or missed, right ones that run or are blamed."""
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
    """The mixes of right pieces and references, by number, that are blamed."""
    found = []
    for seed in range(mixes):
        draw = random.Random(seed)
        drawn = draw.sample(sorted(BY_ID), draw.randint(2, len(BY_ID)))
        if blamed(engines, mix(draw, drawn), f"mix {seed}"):
            found.append(seed)
    return found


def kept(found: dict[str, dict[str, list[str]]]) -> None:
    """Puts the pieces of this run, with what they ran on, in the place of an earlier one's."""
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
