"""One engine in a worker of its own: the engine's files and a piece for every seat go in as texts, logs come back.

The learner's files run there and nowhere else, under the limits of a grading. Nothing that comes back is more than
numbers and short facts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attncli.errors import EnvironmentFailure
from attncli.ladder.pieces import BY_ID, PIECES
from attncli.sandbox.endings import Ending
from attncli.sandbox.worker_process import Reply, Worker

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
