"""One engine in a worker of its own: the engine's files and a piece for every seat go in as texts, logs come back.

The learner's files run there and nowhere else, under the limits of a grading. Nothing that comes back is more than
numbers and short facts.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncli.domain.text import Lang, cells, left
from attncli.errors import EnvironmentFailure, JudgeFailed
from attncli.sandbox.wire import Ending
from attncli.sandbox.worker_process import Reply, Worker
from attncli.words import ladder_texts as words

FRAME, SHARED = "seats", ("measure", "model")
DAY: tuple[str, ...] = ("training", "reading", "weather", "decoding", "choosing", "serving")
"""The parts of the engine's day; each is a file in `impl/ladder/`."""
MEMORY_MIB = 512
SECONDS, PATIENCE = 10.0, 6.0
"""What a part of the day may take, and how many times as long as all of it took the references."""
TRUTH_SECONDS = 60.0
MOST_ENTRIES = 20_000
MOST_BYTES = 8 << 20
MOST_COUNTED = 1 << 53


@dataclass(frozen=True, slots=True)
class Entry:
    """What the engine did at one place."""

    place: str
    number: int
    facts: Any
    values: tuple[float, ...]
    tolerance: float


@dataclass(frozen=True, slots=True)
class Part:
    """What one part of the day gave: its log and how often each piece was called, or why it has none."""

    name: str
    entries: tuple[Entry, ...] = ()
    calls: Mapping[str, int] | None = None
    stopped: Stop | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an engine stopped: a reason of the grade report, what was said, and how long it was waited for."""

    reason: str
    said: str
    seconds: float = 0.0


class Files:
    """The engine's own texts and the references of all pieces."""

    def __init__(self, impl: Path) -> None:
        try:
            self.frame = (impl / "ladder" / f"{FRAME}.py").read_bytes()
            self.parts = {
                name: (impl / "ladder" / f"{name}.py").read_text(encoding="utf-8") for name in (*SHARED, *DAY)
            }
            self.references = {piece.id: piece.reference(impl) for piece in PIECES}
        except OSError as error:
            raise EnvironmentFailure(f"the engine cannot be read ({error}); install attncli again") from error


def day(
    worker: Worker, files: Files, own: Mapping[str, str], seconds: float = SECONDS, checkpoint: Sequence[float] = ()
) -> Iterator[Part]:
    """The parts of an engine's day, one after the other; after a stop there are no more.

    `own` are the learner's texts by piece; every other seat is taken by its reference. What is served after the
    training is the `checkpoint`, where there is one.
    """
    stop = _furnished(worker, files, own, seconds)
    for name in DAY:
        if stop is not None:
            yield Part(name, stopped=stop)
            return
        weights = [["l", [["f", number] for number in checkpoint]]] if checkpoint and name == DAY[1] else []
        answer = _asked(worker, "live", [["s", name], *weights], seconds)
        part = _read(name, answer) if isinstance(answer, Reply) else Part(name, stopped=answer)
        yield part
        stop = part.stopped
        if stop is not None:
            return


def checkpoint_of(training: Part) -> tuple[float, ...]:
    """The weights in the log of a training."""
    return next(entry.values for entry in training.entries if entry.place == "weights")


def _furnished(worker: Worker, files: Files, own: Mapping[str, str], seconds: float) -> Stop | None:
    """Puts the engine together. The learner's files come last, when there is nothing more to be read from memory."""
    outcome = _stopped(worker.load(files.frame, "ladder/seats.py", ["set_up", "sit", "live"], seconds), seconds)
    if isinstance(outcome, Stop):
        return outcome
    texts = ["d", [[["s", name], ["s", text]] for name, text in files.parts.items()]]
    steps: list[tuple[str, list[Any]]] = [("set_up", [texts])]
    for id in sorted(BY_ID, key=lambda id: id in own):
        text, names = own.get(id, files.references[id]), BY_ID[id].names
        steps.append(("sit", [["s", id], ["s", text], ["l", [["s", name] for name in names]]]))
    for name, arguments in steps:
        answer = _asked(worker, name, arguments, seconds)
        if isinstance(answer, Stop):
            return answer
    return None


def _asked(worker: Worker, name: str, arguments: list[Any], seconds: float) -> Reply | Stop:
    header = {"op": "run", "seed": 0, "steps": [{"op": "call", "name": name, "args": arguments}]}
    return _stopped(worker.request(header, [], seconds, reply_limit=MOST_BYTES), seconds)


def _stopped(outcome: Reply | Ending, seconds: float) -> Reply | Stop:
    if isinstance(outcome, Ending):
        return Stop(outcome.reason, outcome.message, seconds)
    if outcome.header["op"] == "raised":
        header = outcome.header
        said = f"{header.get('type', '')}: {header.get('text', '')}" if header.get("type") else header.get("text", "")
        return Stop(str(header.get("reason", "exception"))[:40], str(said)[:300])
    return outcome


def _read(name: str, reply: Reply) -> Part:
    """The log in a reply; whatever is no log has stopped the engine."""
    try:
        return _log(name, reply)
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError) as error:
        return Part(name, stopped=Stop("protocol", f"the log cannot be read ({type(error).__name__})"))


def _log(name: str, reply: Reply) -> Part:
    (outcome,) = reply.header["outcomes"]
    (_, told), (_, index) = outcome["tree"][1]
    (shape,) = [entry["shape"] for entry in reply.header["tensors"]][index : index + 1]
    numbers = reply.payload.cast("d")
    if len(numbers) != shape[0]:
        raise ValueError("numbers")
    log = json.loads(told)
    entries, first = [], 0
    if len(log["entries"]) > MOST_ENTRIES:
        raise ValueError("entries")
    for place, number, facts, count, tolerance in log["entries"]:
        values = tuple(numbers[first : first + _whole(count)])
        entries.append(Entry(str(place)[:40], _whole(number), facts, values, float(tolerance)))
        first += count
    if first != len(numbers):
        raise ValueError("counts")
    calls = {id: _whole(count) for id, count in log["calls"].items() if id in BY_ID}
    return Part(name, tuple(entries), calls)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < MOST_COUNTED:
        raise ValueError("a number out of range")
    return value


# The pieces of the engine, in the order in which it needs them.
#
# One more is a line in `PIECES`, and a use in `impl/ladder/`.


@dataclass(frozen=True, slots=True)
class Piece:
    """A challenge whose solution has a seat in the engine; `names` are its entry points."""

    id: str
    track: str
    role: str
    names: tuple[str, ...]

    def reference(self, impl: Path) -> str:
        """The text that takes the seat where the learner has none of their own."""
        return (impl / self.track / self.id / "reference.py").read_text(encoding="utf-8")


PIECES: tuple[Piece, ...] = (
    Piece("input-embedding", "embeddings", "embedding", ("embed_tokens",)),
    Piece("rope", "positions", "position", ("apply_rope",)),
    Piece("layer-norm", "norms", "norm", ("layer_norm",)),
    Piece("rms-norm", "norms", "norm", ("rms_norm",)),
    Piece("gqa", "cache", "attention", ("gqa",)),
    Piece("swiglu", "blocks", "ffn", ("swiglu_ffn", "swiglu_hidden")),
    Piece("moe-router", "experts", "experts", ("route",)),
    Piece("causal-lm-loss", "losses", "loss", ("lm_loss",)),
    Piece("linear-cross-entropy", "losses", "loss", ("linear_cross_entropy",)),
    Piece("clip-grad-norm", "optimisers", "optimiser", ("clip_grad_norm",)),
    Piece("cosine-warmup", "optimisers", "optimiser", ("lr_at",)),
    Piece("adamw", "optimisers", "optimiser", ("adamw_step",)),
    Piece("rope-kv-cache", "cache", "cache", ("rope_decode_step",)),
    Piece("paged-kv", "serving", "cache", ("BlockAllocator", "paged_attention")),
    Piece("split-kv-decode", "efficient", "cache", ("merge_partials",)),
    Piece("radix-prefix-cache", "serving", "prefix-cache", ("RadixCache",)),
    Piece("repetition-penalty", "decoding", "sampler", ("repetition_penalty",)),
    Piece("top-k-top-p", "decoding", "sampler", ("filter_logits",)),
    Piece("speculative-sampling", "decoding", "speculation", ("spec_step",)),
    Piece("continuous-batching", "serving", "scheduler", ("Scheduler",)),
)
BY_ID = {piece.id: piece for piece in PIECES}


# What `attn ladder` prints of a climb: lines, and a document.

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


# Where two engines first differ.

LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """The part of the day and the place in it where an engine is not what it should be; `stopped` where it ended."""

    part: str
    place: str = ""
    number: int = 0
    stopped: Stop | None = None


def difference(truth: Part, seen: Part) -> Difference | None:
    """The first place where `seen` differs from what the references do, None where it is right."""
    if seen.stopped is not None:
        return Difference(seen.name, stopped=seen.stopped)
    for due, found in zip(truth.entries, seen.entries, strict=False):
        if not agree(due, found):
            return Difference(truth.name, due.place, due.number)
    if len(truth.entries) != len(seen.entries):
        last = truth.entries[min(len(seen.entries), len(truth.entries) - 1)]
        return Difference(truth.name, last.place, last.number)
    return None


def agree(due: Entry, found: Entry) -> bool:
    """Whether the same was seen at the same place, numbers within the tolerance of `due`."""
    if (due.place, due.number, due.facts) != (found.place, found.number, found.facts):
        return False
    if len(due.values) != len(found.values):
        return False
    largest = max((abs(value) for value in due.values if math.isfinite(value)), default=0.0)
    room = due.tolerance * largest + LEAST
    return all(_close(a, b, room) for a, b in zip(due.values, found.values, strict=True))


def _close(due: float, found: float, room: float) -> bool:
    if math.isfinite(due):
        return abs(due - found) <= room
    return due == found or (math.isnan(due) and math.isnan(found))


# Which piece breaks an engine: found by swapping pieces inside it, never by grading them.
#
# The engine runs with all of the learner's pieces; where that is not what the references do, with each of them alone
# among references; and where each is right alone, the smallest set that is wrong together is looked for.

OpenWorker = Callable[[int], Worker]
OnRun = Callable[[int, Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class Blame:
    """The pieces that break the engine, together where there are several, and where it first showed."""

    pieces: tuple[str, ...]
    difference: Difference


@dataclass(frozen=True, slots=True)
class Climb:
    """How it went: who broke the engine, and the day of an engine in which all others have their seats."""

    blames: tuple[Blame, ...]
    parts: tuple[Part, ...]

    @property
    def broken(self) -> frozenset[str]:
        return frozenset(id for blame in self.blames for id in blame.pieces)


class Engines:
    """Engines of any mix of pieces, each in a fresh worker, against the one that has references alone."""

    def __init__(
        self,
        files: Files,
        open_worker: OpenWorker,
        on_run: OnRun = lambda number, own: None,
        seconds: float = SECONDS,
        patience: float = PATIENCE,
    ) -> None:
        """`seconds` is what a part of the day may take where the learner's pieces have seats, and at least `patience`
        times as long as the references take for their whole day: slow code that is right is waited for."""
        self._files, self._open, self._on_run, self._seconds = files, open_worker, on_run, seconds
        self._runs = 0
        self.truth = self._day_of_references(patience)

    def run(self, own: Mapping[str, str]) -> tuple[list[Part], Difference | None]:
        """The day of an engine with these pieces, up to where it first differs from what it should be."""
        self._begin(own)
        parts: list[Part] = []
        with self._open(MEMORY_MIB) as worker:
            seen_day = day(worker, self._files, own, self._seconds, checkpoint_of(self.truth[0]))
            for due, seen in zip(self.truth, seen_day, strict=False):
                parts.append(seen)
                found = difference(due, seen)
                if found is not None:
                    return parts, found
        return parts, None

    def _day_of_references(self, patience: float) -> list[Part]:
        self._begin(())
        with self._open(MEMORY_MIB) as worker:
            begun = time.monotonic()
            parts = list(day(worker, self._files, {}, TRUTH_SECONDS))
            self._seconds = max(self._seconds, float(round(patience * (time.monotonic() - begun))))
        if parts[-1].stopped is not None:
            raise JudgeFailed(f"the engine stops with references alone ({parts[-1].stopped.said}); see attn doctor")
        return parts

    def _begin(self, own: Mapping[str, str] | tuple[()]) -> None:
        self._runs += 1
        self._on_run(self._runs, list(own))


def climb(engines: Engines, own: Mapping[str, str]) -> Climb:
    """Runs the engine with all of `own`, and finds those that break it. Raises JudgeFailed."""
    if not own:
        return Climb((), tuple(engines.truth))
    parts, wrong = engines.run(own)
    if wrong is None:
        return Climb((), tuple(parts))
    blames = list(_alone(engines, own, wrong))
    while True:
        rest = _without(own, [id for blame in blames for id in blame.pieces])
        parts, wrong = engines.run(rest) if rest else (engines.truth, None)
        if wrong is None:
            return Climb(tuple(blames), tuple(parts))
        blames.append(_together(engines, rest, wrong))


def _alone(engines: Engines, own: Mapping[str, str], wrong: Difference) -> list[Blame]:
    """The pieces that break an engine in which everything else is a reference."""
    if len(own) == 1:
        return [Blame(tuple(own), wrong)]
    found = [(id, engines.run({id: text})[1]) for id, text in own.items()]
    return [Blame((id,), where) for id, where in found if where is not None]


def _together(engines: Engines, own: Mapping[str, str], wrong: Difference) -> Blame:
    """The fewest of these pieces that are wrong together; none can be left out of them."""
    for id in list(own):
        fewer = _without(own, [id])
        where = engines.run(fewer)[1] if fewer else None
        if where is not None:
            own, wrong = fewer, where
    return Blame(tuple(own), wrong)


def _without(own: Mapping[str, str], ids: Sequence[str]) -> dict[str, str]:
    return {id: text for id, text in own.items() if id not in ids}
