"""Run an engine made of the learner's pieces, and find the pieces that break it.

Each engine runs in its own worker: its files and one piece per slot go in as texts, and logs of numbers and short facts
come back. The learner's files run nowhere else, under the limits of a grading. A broken piece is found by swapping
pieces inside the engine, never by grading them. First all of the learner's pieces run together, then each alone among
references. If each is right alone, a minimal wrong set is searched.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from attncli.domain.text import in_columns, left
from attncli.errors import EnvironmentFailure, JudgeFailed
from attncli.i18n import Lang, Localised, _, quoted
from attncli.sandbox.worker_process import Ending, Reply, Worker

FRAME, SHARED = "seats", ("measure", "model")
DAY: tuple[str, ...] = ("training", "reading", "weather", "decoding", "choosing", "serving")
"""The parts of an engine's run, in order; each is a file in `impl/ladder/`."""
MEMORY_MIB = 512
SECONDS, PATIENCE = 10.0, 6.0
"""The time limit of a part: seconds, and at least this many times the references' whole run."""
REFERENCE_SECONDS = 60.0
MOST_ENTRIES = 20_000
MOST_BYTES = 8 << 20
MOST_COUNTED = 1 << 53

LONGEST_MESSAGE = 160

ABSOLUTE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Piece:
    """A challenge whose solution is a part of the engine; `names` are its entry points.

    To add a piece, add a line to `PIECES`, in the order in which the engine needs them, and use it in `impl/ladder/`.
    """

    id: str
    track: str
    role: str
    names: tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class Entry:
    """A log entry: the facts and numbers recorded at one place of the engine, with their tolerance."""

    place: str
    number: int
    facts: Any
    values: tuple[float, ...]
    tolerance: float


@dataclass(frozen=True, slots=True)
class Part:
    """The outcome of one part of a run: its log and the number of calls of each piece, or the reason it stopped."""

    name: str
    entries: tuple[Entry, ...] = ()
    calls: Mapping[str, int] | None = None
    stopped: Stop | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The early end of an engine: a reason of the grade report, a message, and the time limit in seconds."""

    reason: str
    message: Localised
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """The part and the place in it at which an engine first differs from the reference; `stopped` if it ended there."""

    part: str
    place: str = ""
    number: int = 0
    stopped: Stop | None = None


@dataclass(frozen=True, slots=True)
class Blame:
    """The pieces that break the engine, together if there are several, and the first difference."""

    pieces: tuple[str, ...]
    difference: Difference


@dataclass(frozen=True, slots=True)
class LadderRun:
    """The pieces that broke the engine, and the run with all other pieces of the learner."""

    blames: tuple[Blame, ...]
    parts: tuple[Part, ...]

    @property
    def broken(self) -> frozenset[str]:
        return frozenset(id for blame in self.blames for id in blame.pieces)


# Finding the pieces that break the engine


def climb(engines: Engines, own: Mapping[str, str]) -> LadderRun:
    """Run the engine with all pieces in `own` (texts by id), and find those that break it. Raises JudgeFailed."""
    if not own:
        return LadderRun((), tuple(engines.reference))
    parts, wrong = engines.run(own)
    if wrong is None:
        return LadderRun((), tuple(parts))
    blames = list(_broken_alone(engines, own, wrong))
    while True:
        rest = _without(own, [id for blame in blames for id in blame.pieces])
        parts, wrong = engines.run(rest) if rest else (engines.reference, None)
        if wrong is None:
            return LadderRun(tuple(blames), tuple(parts))
        blames.append(_broken_together(engines, rest, wrong))


def _broken_alone(engines: Engines, own: Mapping[str, str], wrong: Difference) -> list[Blame]:
    """Return the pieces that break an engine of which all other pieces are references."""
    if len(own) == 1:
        return [Blame(tuple(own), wrong)]
    found = [(id, engines.run({id: text})[1]) for id, text in own.items()]
    return [Blame((id,), difference) for id, difference in found if difference is not None]


def _broken_together(engines: Engines, own: Mapping[str, str], wrong: Difference) -> Blame:
    """Return a minimal set of these pieces that are wrong together: without any of them the rest is right."""
    for id in list(own):
        fewer = _without(own, [id])
        difference = engines.run(fewer)[1] if fewer else None
        if difference is not None:
            own, wrong = fewer, difference
    return Blame(tuple(own), wrong)


def _without(own: Mapping[str, str], ids: Sequence[str]) -> dict[str, str]:
    return {id: text for id, text in own.items() if id not in ids}


class Files:
    """The engine's own texts and the references of all pieces. Raises EnvironmentFailure if one cannot be read."""

    def __init__(self, impl: Path) -> None:
        def text(*parts: str) -> str:
            return impl.joinpath(*parts).read_text(encoding="utf-8")

        try:
            self.frame = text("ladder", f"{FRAME}.py").encode()
            self.parts = {name: text("ladder", f"{name}.py") for name in (*SHARED, *DAY)}
            self.references = {piece.id: text(piece.track, piece.id, "reference.py") for piece in PIECES}
        except OSError as error:
            raise EnvironmentFailure(_("cannot read the engine ({error}); reinstall attncli", error=error)) from error


class Engines:
    """Runs engines of any mix of pieces, each in a fresh worker, and compares them with the one of references only."""

    def __init__(
        self,
        files: Files,
        open_worker: Callable[[int], Worker],
        on_run: Callable[[int, Sequence[str]], None] = lambda number, own: None,
        seconds: float = SECONDS,
        patience: float = PATIENCE,
    ) -> None:
        """Run the references. A part with the learner's pieces may take `seconds`, and at least `patience` times as
        long as all parts with references, so that slow but right code can finish. Raises JudgeFailed."""
        self._files, self._open, self._on_run = files, open_worker, on_run
        self._runs, self._checkpoint = 0, tuple[float, ...]()
        with open_worker(MEMORY_MIB) as worker:
            started = time.monotonic()
            self.reference = list(self._live(worker, {}, REFERENCE_SECONDS))
            self._seconds = max(seconds, float(round(patience * (time.monotonic() - started))))
        if (stop := self.reference[-1].stopped) is not None:
            raise JudgeFailed(_("the engine fails even with the references ({why}); run attn doctor", why=stop.message))
        self._checkpoint = next(entry.values for entry in self.reference[0].entries if entry.place == "weights")

    def run(self, own: Mapping[str, str]) -> tuple[list[Part], Difference | None]:
        """Return the parts of an engine with these pieces up to the first difference, and that difference."""
        parts: list[Part] = []
        with self._open(MEMORY_MIB) as worker:
            for expected, actual in zip(self.reference, self._live(worker, own, self._seconds), strict=False):
                parts.append(actual)
                found = first_difference(expected, actual)
                if found is not None:
                    return parts, found
        return parts, None

    def _live(self, worker: Worker, own: Mapping[str, str], seconds: float) -> Iterator[Part]:
        """Yield the parts of an engine's run until one stops.

        `own` are the learner's texts by piece; references fill the other slots. The references' weights replace the
        trained ones in the parts after the training.
        """
        self._runs += 1
        self._on_run(self._runs, list(own))
        stop = _set_up(worker, self._files, own, seconds)
        if stop is not None:
            yield Part(DAY[0], stopped=stop)
            return
        for name in DAY:
            is_next = self._checkpoint and name == DAY[1]
            weights = [["l", [["f", number] for number in self._checkpoint]]] if is_next else []
            answer = _call(worker, "live", [["s", name], *weights], seconds)
            part = _read(name, answer) if isinstance(answer, Reply) else Part(name, stopped=answer)
            yield part
            if part.stopped is not None:
                return


# Running one engine


def _set_up(worker: Worker, files: Files, own: Mapping[str, str], seconds: float) -> Stop | None:
    """Assemble the engine. The learner's files come last, when no more texts arrive that they could read."""
    outcome = _result(worker.load(files.frame, "ladder/seats.py", ["set_up", "sit", "live"], seconds), seconds)
    if isinstance(outcome, Stop):
        return outcome
    texts = ["d", [[["s", name], ["s", text]] for name, text in files.parts.items()]]
    steps: list[tuple[str, list[Any]]] = [("set_up", [texts])]
    for id in sorted(BY_ID, key=lambda id: id in own):
        text, names = own.get(id, files.references[id]), BY_ID[id].names
        steps.append(("sit", [["s", id], ["s", text], ["l", [["s", name] for name in names]]]))
    for name, arguments in steps:
        answer = _call(worker, name, arguments, seconds)
        if isinstance(answer, Stop):
            return answer
    return None


def _call(worker: Worker, name: str, arguments: list[Any], seconds: float) -> Reply | Stop:
    header = {"op": "run", "seed": 0, "steps": [{"op": "call", "name": name, "args": arguments}]}
    return _result(worker.request(header, [], seconds, reply_limit=MOST_BYTES), seconds)


def _result(outcome: Reply | Ending, seconds: float) -> Reply | Stop:
    if isinstance(outcome, Ending):
        return Stop(outcome.reason, outcome.message, seconds)
    if outcome.header["op"] == "raised":
        header = outcome.header
        text = header.get("text", "")
        message = f"{header['type']}: {text}" if header.get("type") else text
        return Stop(str(header.get("reason", "exception"))[:40], quoted(str(message)[:300]))
    return outcome


def _read(name: str, reply: Reply) -> Part:
    """Return the log in a reply; a malformed log counts as a stop."""
    try:
        return _log(name, reply)
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError) as error:
        return Part(name, stopped=Stop("protocol", _("cannot read the log ({error})", error=type(error).__name__)))


def _log(name: str, reply: Reply) -> Part:
    (outcome,) = reply.header["outcomes"]
    (_, text), (_, index) = outcome["tree"][1]
    (shape,) = [entry["shape"] for entry in reply.header["tensors"]][index : index + 1]
    numbers = reply.payload.cast("d")
    if len(numbers) != shape[0]:
        raise ValueError("numbers")
    log = json.loads(text)
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


# Comparing two logs


def first_difference(reference: Part, actual: Part) -> Difference | None:
    """Return the first place at which `actual` differs from the reference, None if there is none."""
    if actual.stopped is not None:
        return Difference(actual.name, stopped=actual.stopped)
    for expected, found in zip(reference.entries, actual.entries, strict=False):
        if not agree(expected, found):
            return Difference(reference.name, expected.place, expected.number)
    if len(reference.entries) != len(actual.entries):
        last = reference.entries[min(len(actual.entries), len(reference.entries) - 1)]
        return Difference(reference.name, last.place, last.number)
    return None


def agree(expected: Entry, found: Entry) -> bool:
    """Return True if both entries have the same place and facts, and numbers within the tolerance of `expected`."""
    if (expected.place, expected.number, expected.facts) != (found.place, found.number, found.facts):
        return False
    if len(expected.values) != len(found.values):
        return False
    largest = max((abs(value) for value in expected.values if math.isfinite(value)), default=0.0)
    tolerance = expected.tolerance * largest + ABSOLUTE_TOLERANCE
    return all(_close(a, b, tolerance) for a, b in zip(expected.values, found.values, strict=True))


def _close(expected: float, found: float, tolerance: float) -> bool:
    if math.isfinite(expected):
        return abs(expected - found) <= tolerance
    return expected == found or (math.isnan(expected) and math.isnan(found))


# Printing

ROLES: Mapping[str, Localised] = {
    "embedding": _("embedding"),
    "position": _("positions"),
    "norm": _("norm"),
    "attention": _("attention"),
    "ffn": _("feed-forward network"),
    "experts": _("experts"),
    "loss": _("loss"),
    "optimiser": _("optimiser"),
    "cache": _("KV cache"),
    "prefix-cache": _("prefix cache"),
    "sampler": _("sampler"),
    "speculation": _("speculation"),
    "scheduler": _("scheduler"),
}
PARTS: Mapping[str, Localised] = {
    "training": _("training"),
    "reading": _("prefill"),
    "weather": _("stress test"),
    "decoding": _("cached decoding"),
    "choosing": _("sampling"),
    "serving": _("serving"),
}
PLACES: Mapping[str, Localised] = {
    "rates": _("the learning rates of a run"),
    "embedding": _("the embedded tokens of the first batch"),
    "embedding-norm": _("the embeddings after their norm"),
    "block-a": _("the output of the first block"),
    "block-b": _("the output of the second block"),
    "first-loss": _("the loss before the first step"),
    "loss": _("the loss of training step {n}"),
    "gradients": _("the gradients of training step {n}"),
    "clipping": _("the clipped gradients of training step {n}"),
    "update": _("the weights after training step {n}"),
    "weights": _("the trained weights"),
    "learned": _("the first and the last loss"),
    "arguments": _("an argument was changed in place"),
    "results": _("an earlier result was changed in place"),
    "prompt": _("the logits after a prompt"),
    "future": _("a later token changes earlier results"),
    "chunk": _("chunk {n} of a prompt"),
    "ragged-rows": _("rows of a batch that start at different positions"),
    "first-position": _("a token at position 0"),
    "turned": _("queries with shuffled positions"),
    "distance": _("attention scores late in a long text"),
    "groups": _("heads that share keys"),
    "copies": _("keys are copied for every head"),
    "groups-backward": _("the gradients of shared keys"),
    "uneven-groups": _("a head count that does not divide evenly"),
    "short-past": _("fewer keys than causal queries"),
    "widths": _("the hidden width of the feed-forward network"),
    "routes": _("the chosen experts and their weights"),
    "router-learns": _("the gradient of the router"),
    "bias-learns": _("the gradient of the router's bias"),
    "unknown-rule": _("an unknown gating rule"),
    "output-layer": _("loss and gradients of the output layer"),
    "logits-at-once": _("the number of logits in memory at once"),
    "norms": _("normalisation of features of different scales"),
    "norms-far-out": _("normalisation of features far from zero"),
    "norms-backward": _("the gradients of a norm"),
    "table": _("rows of the embedding table and their gradients"),
    "sharp-attention": _("attention with scores of ±200"),
    "gates": _("gates far from zero"),
    "steep-routes": _("a router with logits of ±200"),
    "steep-choice": _("a choice among probabilities that underflow to 0"),
    "loud-loss": _("the loss for logits of ±10⁴, with each kind of mask"),
    "loud-output-layer": _("the output layer with logits of ±10⁴"),
    "clipped": _("gradients that are tiny, zero, infinite or NaN"),
    "long-run": _("update {n} of a long run"),
    "cached-step": _("a decoding step with a cache"),
    "continuation": _("two continuations of one text"),
    "cache-size": _("the size of the cache"),
    "cache-work": _("the work of one step over a long cache"),
    "page-slot": _("the slot assigned to a token"),
    "paged-attention": _("attention through a page table"),
    "page-tables": _("the page tables"),
    "shared-pages": _("the pages that two texts share"),
    "freed": _("the pages left after freeing two of three texts"),
    "unknown-sequence": _("an unknown sequence"),
    "memory-is-full": _("a token for which no page is free"),
    "parted": _("texts that diverge inside a page"),
    "gathered": _("several sequences gathered into one tensor"),
    "merged": _("a long cache read in chunks"),
    "merged-backward": _("the gradients of merged chunks"),
    "penalty": _("penalised logits"),
    "filters": _("filtered logits"),
    "text": _("a text sampled without speculation"),
    "drafted": _("a text drafted by one block, verified by the model"),
    "guesses": _("a draft that is always accepted or always rejected"),
    "generator": _("the source of random numbers"),
    "frequencies": _("the acceptance rate and the tokens that follow"),
    "schedule": _("the requests scheduled, preempted and finished"),
    "door": _("a request that just fits, or can never fit"),
    "prefix": _("the prefixes found"),
    "evicted": _("the evicted pages"),
    "served": _("step {n} of the server"),
    "prefix-hit": _("the prefix cache hit of request {id}"),
    "logits": _("the logits from which a served token is drawn"),
    "tokens": _("the tokens of request {id}"),
    "pages-evicted": _("the pages evicted for request {id}"),
    "whole-text": _("the text of request {id}, recomputed without a cache"),
    "counts": _("the counts of tokens computed and cached"),
    "sample": _("the served text"),
    "day": _("the totals of the server"),
}
"""The places of an engine's log; `n` counts from 1."""


_STOPS: Mapping[str, Localised] = {
    "exception": _("raised {error}"),
    "timeout": _("did not finish within {seconds:g} s"),
    "memory": _("used more than {mib} MiB"),
    "exited": _("ended the engine's process"),
    "crashed": _("crashed the engine's process"),
    "output": _("printed too much"),
    "refused": _("made a forbidden call"),
    "too-large": _("overflowed the engine's log"),
}
_CORRUPTED = _("corrupted the engine's log")


def document(run: LadderRun, origins: Mapping[str, Mapping[str, Any]], lang: Lang) -> dict[str, Any]:
    """Return the document that `--json` prints. `origins` describes the origin of each of the learner's pieces."""
    figures = _figures(run)
    return {
        "verdict": "broken" if run.blames else "right",
        "pieces": [
            {
                "id": piece.id,
                "role": piece.role,
                "own": piece.id in origins,
                "from": origins.get(piece.id),
                "calls": _calls(run, piece.id),
                "status": _status(run, piece.id, origins),
            }
            for piece in PIECES
        ],
        "broken": [_blame_document(blame, lang) for blame in run.blames],
        **figures,
    }


def lines(run: LadderRun, origins: Mapping[str, Mapping[str, Any]], lang: Lang) -> Iterator[str]:
    """Yield the table of pieces, the broken pieces, the results of the engine, and the next step."""
    yield from _table(run, origins, lang)
    yield ""
    for blame in run.blames:
        pieces, where = _listed(blame.pieces), describe_difference(blame.difference)
        if len(blame.pieces) > 1:
            yield _("{pieces} (each passes alone, but not together): {where}", pieces=pieces, where=where)[lang]
        else:
            yield _("{pieces}: {where}", pieces=pieces, where=where)[lang]
    if run.blames:
        yield _("With references instead:")[lang]
    figures = _figures(run)
    first, last = figures["loss"]
    yield _("Training: loss {first:.2f} → {last:.2f}", first=first, last=last)[lang]
    tokens = figures["tokens"]
    yield _("Serving: {generated} tokens generated, {computed} computed, {found} from the prefix cache", **tokens)[lang]
    yield _("Sample: {text}", text=figures["sample"])[lang]
    if not run.blames:
        yield _("The engine works.")[lang]
    yield _next(origins, lang)


def failure(run: LadderRun) -> Localised:
    """Return the error line for an engine with broken pieces."""
    broken = [id for blame in run.blames for id in blame.pieces]
    return _(
        "the engine fails because of {pieces}; run attn grade {first} FILE, or try attn ladder --piece {first}=FILE",
        pieces=_listed(broken),
        first=broken[0],
    )


def describe_difference(difference: Difference) -> Localised:
    """Return the part and the place of a difference, or the reason why the engine stopped."""
    if difference.stopped is not None:
        stop = difference.stopped
        error = stop.message.en.partition("\n")[0][:LONGEST_MESSAGE]
        place = _STOPS.get(stop.reason, _CORRUPTED).format(error=error, seconds=stop.seconds, mib=MEMORY_MIB)
    else:
        place = PLACES[difference.place].format(n=difference.number + 1, id=difference.number)
    return _("{part}: {place}", part=PARTS[difference.part], place=place)


def _listed(pieces: Sequence[str]) -> Localised:
    return _(", ").join(map(quoted, pieces))


def _table(run: LadderRun, origins: Mapping[str, Mapping[str, Any]], lang: Lang) -> Iterator[str]:
    statuses = {"right": _("works"), "broken": _("BREAKS IT"), "reference": quoted("-")}
    rows = [_("role|piece|source|calls|in the engine")[lang].split("|")]
    for piece in PIECES:
        own = _("yours") if piece.id in origins else _("reference")
        status = statuses[_status(run, piece.id, origins)]
        calls = _("{count} ×", count=_calls(run, piece.id))
        rows.append([ROLES[piece.role][lang], piece.id, own[lang], calls[lang], status[lang]])
    yield from in_columns(rows, repeat(left))


def _status(run: LadderRun, id: str, origins: Mapping[str, Any]) -> str:
    if id not in origins:
        return "reference"
    return "broken" if id in run.broken else "right"


def _calls(run: LadderRun, id: str) -> int:
    return sum((part.calls or {}).get(id, 0) for part in run.parts)


def _blame_document(blame: Blame, lang: Lang) -> dict[str, Any]:
    found = blame.difference
    return {
        "pieces": list(blame.pieces),
        "part": found.part,
        "place": found.place or None,
        "number": found.number if found.place else None,
        "reason": found.stopped.reason if found.stopped else None,
        "says": describe_difference(found)[lang],
    }


def _figures(run: LadderRun) -> dict[str, Any]:
    """Return loss, tokens and the sample text of the last run."""
    found = {entry.place: entry for part in run.parts for entry in part.entries}
    _, computed, hits, _ = found["counts"].facts
    _, _, generated = found["day"].facts
    return {
        "loss": list(found["learned"].values),
        "tokens": {"generated": generated, "computed": computed, "found": hits},
        "sample": found["sample"].facts,
    }


def _next(origins: Mapping[str, Any], lang: Lang) -> str:
    missing = [piece.id for piece in PIECES if piece.id not in origins]
    if not missing:
        return _("All {total} pieces are yours: a language model and its engine.", total=len(PIECES))[lang]
    if len(missing) == len(PIECES):
        return _(
            "You have not solved any piece yet. Start with: attn start {challenge}, then attn grade {challenge} FILE",
            challenge=missing[0],
        )[lang]
    return _(
        "{own} of {total} pieces are yours; next: attn start {challenge}",
        own=len(PIECES) - len(missing),
        total=len(PIECES),
        challenge=missing[0],
    )[lang]
