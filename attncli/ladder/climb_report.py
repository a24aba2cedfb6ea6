"""What `attn ladder` prints of a climb: lines, and a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attncli.domain.cells import cells, left
from attncli.domain.text import Lang
from attncli.ladder.blame import Blame, Climb
from attncli.ladder.comparing import Difference
from attncli.ladder.engine import MEMORY_MIB, Entry
from attncli.ladder.pieces import PIECES
from attncli.words import ladder_texts as words

LONGEST_SAID = 160


def document(climb: Climb, whose: Mapping[str, Mapping[str, Any]], lang: Lang) -> dict[str, Any]:
    """What `--json` prints. `whose` says of each piece of the learner's where it comes from."""
    figures = _figures(climb)
    return {
        "verdict": "broken" if climb.blames else "right",
        "pieces": [
            {
                "id": piece.id,
                "role": piece.role,
                "own": piece.id in whose,
                "from": whose.get(piece.id),
                "calls": _calls(climb, piece.id),
                "status": _standing(climb, piece.id, whose),
            }
            for piece in PIECES
        ],
        "broken": [_blamed(blame, lang) for blame in climb.blames],
        **figures,
    }


def lines(climb: Climb, whose: Mapping[str, Mapping[str, Any]], lang: Lang) -> Iterator[str]:
    """The table of rungs, what the engine did in the end, and what to do next."""
    yield from _table(climb, whose, lang)
    yield ""
    for blame in climb.blames:
        frame = words.TOGETHER if len(blame.pieces) > 1 else words.BREAKS
        yield frame[lang].format(pieces=words.BETWEEN[lang].join(blame.pieces), where=where(blame.difference, lang))
    if climb.blames:
        yield words.IN_THEIR_PLACE[lang]
    figures = _figures(climb)
    first, last = figures["loss"]
    yield words.TRAINED[lang].format(first=first, last=last)
    yield words.SERVED[lang].format(**figures["tokens"])
    yield words.SAMPLE[lang].format(text=figures["sample"])
    if not climb.blames:
        yield words.RUNS[lang]
    yield _next(whose, lang)


def where(difference: Difference, lang: Lang) -> str:
    """Where in the engine it showed."""
    part = words.PARTS[difference.part][lang]
    if difference.stopped is not None:
        reason = words.REASONS.get(difference.stopped.reason, words.REASONS["protocol"])
        said = difference.stopped.said.partition("\n")[0][:LONGEST_SAID]
        told = reason[lang].format(said=said, seconds=difference.stopped.seconds, mib=MEMORY_MIB)
        return words.AT[lang].format(part=part, place=told)
    place = words.PLACES[difference.place][lang].format(n=difference.number + 1, id=difference.number)
    return words.AT[lang].format(part=part, place=place)


def failure(climb: Climb, lang: Lang) -> str:
    """The one line of an engine that does not run right."""
    broken = [id for blame in climb.blames for id in blame.pieces]
    return words.FAILED[lang].format(pieces=words.BETWEEN[lang].join(broken), first=broken[0])


def _table(climb: Climb, whose: Mapping[str, Mapping[str, Any]], lang: Lang) -> Iterator[str]:
    rows = [words.HEAD[lang].split("|")]
    for piece in PIECES:
        own = words.OWN if piece.id in whose else words.NOT_OWN
        standing = words.STANDING[_standing(climb, piece.id, whose)]
        used = words.USED[lang].format(count=_calls(climb, piece.id))
        rows.append([words.ROLES[piece.role][lang], piece.id, own[lang], used, standing[lang]])
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(left(text, width) for text, width in zip(row, widths, strict=True)).rstrip()


def _standing(climb: Climb, id: str, whose: Mapping[str, Any]) -> str:
    if id not in whose:
        return "reference"
    return "broken" if id in climb.broken else "right"


def _calls(climb: Climb, id: str) -> int:
    return sum((part.calls or {}).get(id, 0) for part in climb.parts)


def _blamed(blame: Blame, lang: Lang) -> dict[str, Any]:
    found = blame.difference
    return {
        "pieces": list(blame.pieces),
        "part": found.part,
        "place": found.place or None,
        "number": found.number if found.place else None,
        "reason": found.stopped.reason if found.stopped else None,
        "says": where(found, lang),
    }


def _figures(climb: Climb) -> dict[str, Any]:
    """Loss, tokens and the text of a day that went well."""
    found = {entry.place: entry for entry in _last(climb)}
    _, computed, hits, _ = found["counts"].facts
    _, _, generated = found["day"].facts
    return {
        "loss": list(found["learned"].values),
        "tokens": {"generated": generated, "computed": computed, "found": hits},
        "sample": found["sample"].facts,
    }


def _last(climb: Climb) -> Sequence[Entry]:
    return [entry for part in climb.parts for entry in part.entries]


def _next(whose: Mapping[str, Any], lang: Lang) -> str:
    missing = [piece.id for piece in PIECES if piece.id not in whose]
    if not missing:
        return words.COMPLETE[lang].format(total=len(PIECES))
    if len(missing) == len(PIECES):
        return words.BEGIN[lang].format(challenge=missing[0])
    return words.NEXT[lang].format(own=len(PIECES) - len(missing), total=len(PIECES), challenge=missing[0])
