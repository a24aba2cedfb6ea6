"""Night: requests arrive one after the other, and are served side by side until each has its answer.

The scheduler decides who runs and for how many tokens, and the prefix cache finds common prefixes. The first block
caches its keys step by step, the second in pages. Every new token is penalised and filtered. The log has it all: who
was served when, what was preempted, found and evicted.
"""

from __future__ import annotations

from typing import Any

import torch
from ladder_model import BLOCKS
from torch import Tensor

PAGE, PAGES, BUDGET = 4, 12, 7
MOST_STEPS = 120


def live(engine: Any) -> None:
    schedules(engine)
    prefixes(engine)
    serve(engine)


# -- the scheduler alone: six traffic patterns, without a model -------------------------------------------------------

TRAFFIC: list[tuple[tuple[int, int, int], list[tuple[int, int, int, int]]]] = [
    # blocks, block, budget; then (step of arrival, id, prompt, new tokens)
    ((6, 4, 8), [(0, 9, 5, 4), (0, 2, 9, 6), (1, 7, 3, 3), (1, 1, 12, 2), (4, 5, 1, 1), (6, 8, 2, 9)]),
    ((4, 3, 5), [(0, 3, 6, 6), (0, 1, 5, 6), (2, 2, 4, 4), (3, 9, 2, 2)]),
    ((3, 5, 20), [(0, 4, 7, 5), (0, 6, 4, 8), (0, 5, 3, 3), (5, 1, 11, 5)]),
    ((50, 4, 24), [(n // 4, 40 - n, 1 + 7 * n % 30, 1 + 5 * n % 9) for n in range(20)]),
    ((60, 2, 9), [(0, 1, 90, 20), (0, 2, 6, 3), (1, 3, 30, 30)]),
    ((10, 1, 3), [(0, 8, 4, 5), (0, 3, 4, 5), (1, 5, 3, 2), (2, 2, 1, 3), (2, 7, 9, 2)]),
]


def schedules(engine: Any) -> None:
    """Schedule traffic that is preempted, queued or cut by the budget; refuse requests that can never fit."""
    asleep = engine.do.Scheduler(9, 9, 9)
    asleep.add(77, 8, 3)
    for n, (sizes, arrivals) in enumerate(TRAFFIC):
        scheduler, waiting = engine.do.Scheduler(*sizes), list(arrivals)
        for step in range(MOST_STEPS):
            while waiting and waiting[0][0] <= step:
                scheduler.add(*waiting.pop(0)[1:])
            scheduled, preempted, finished = scheduler.step()
            engine.say("schedule", [scheduled, sorted(preempted), sorted(finished)], 1000 * n + step)
            if not scheduled and not waiting:
                break
    other = engine.do.Scheduler(2, 2, 3)
    engine.say("schedule", [part if isinstance(part, dict) else sorted(part) for part in other.step()], 9000)
    other.add(1, 3, 2)
    engine.refused("door", ValueError, lambda: other.add(2, 4, 2), 0)
    engine.refused("door", ValueError, lambda: other.add(2, 6, 1), 1)
    other.add(3, 4, 1)
    other.add(4, 1, 4)
    for step in range(20):
        engine.say("schedule", [part if isinstance(part, dict) else sorted(part) for part in other.step()], 9001 + step)


# -- the prefix cache alone: many texts, under several keys -----------------------------------------------------------


def prefixes(engine: Any) -> None:
    """Insert, pin, unpin and evict texts with common prefixes; the least recently used goes first."""
    for n, block in enumerate((1, 2, 3)):
        cache, other = engine.do.RadixCache(block), engine.do.RadixCache(block)
        traffic(engine, cache, block, 100 * (n + 1))
        other.insert([1, 1, 0, 1, 1, 0], list(range(500, 500 + 6 // block)))
        engine.say("prefix", [*other.match([1, 1, 0, 1, 1, 0, 0, 1, 0])], 1020 + n)
        engine.say("prefix", [*cache.match([1, 1, 0, 1, 1, 0, 0, 1, 0])], 1030 + n)
        engine.say("evicted", cache.evict(1000), 1010 + n)
        long = [(k * k + k // 7) % 5 for k in range(40 * block)]
        cache.insert(long[:-block], list(range(2000, 2039)))
        engine.say("prefix", [*cache.match(long)], 1040 + n)
        engine.say("evicted", cache.evict(38), 1050 + n)
        cache.evict(1)
        twice_pinned(engine, cache, block, n)


def traffic(engine: Any, cache: Any, block: int, place: int) -> None:
    generator, free = torch.Generator().manual_seed(place), 100
    pinned: list[tuple[list[int], Any]] = []

    def drawn(most: int) -> int:
        return int(torch.randint(0, most, (), generator=generator))

    for turn in range(110):
        length, key, act = drawn(4 * block + 2), (None, "b", 7)[drawn(3) % (1 + turn % 3)], drawn(9)
        ids = [drawn(2) for _ in range(length)]
        if act < 5:  # three times in five with the blocks cached already, as a request inserts them that used them
            held = cache.match(ids, key)[1] if act < 3 else []
            blocks = [*held, *range(free + len(held), free + length // block)]
            free += length // block
            engine.say("prefix", [len(held), cache.insert(ids, blocks, key)], place + turn)
        elif act == 5:
            engine.say("prefix", [*cache.match(ids, key)] if key else [*cache.match(ids)], place + turn)
        elif act == 6:
            covered = cache.lock(ids, key)
            pinned.append((ids[:covered], key))
            engine.say("prefix", covered, place + turn)
        elif act == 7 and pinned:
            cache.unlock(*pinned.pop(turn % len(pinned)))
        elif turn > 20:
            engine.say("evicted", cache.evict(1 + drawn(4)), place + turn)
    engine.say("evicted", cache.evict(3), place)
    for ids, key in pinned:
        cache.unlock(ids, key)


def twice_pinned(engine: Any, cache: Any, block: int, n: int) -> None:
    """Pin one text for two requests; it stays pinned after the first is unpinned."""
    ids = [1, 0, 1, 1, 0, 1]
    cache.insert(ids, list(range(900, 900 + 6 // block)), "twice")
    for _ in range(2):
        cache.lock(ids, "twice")
    cache.unlock(ids, "twice")
    engine.say("evicted", cache.evict(9), 2000 + n)
    cache.unlock(ids, "twice")
    engine.say("evicted", cache.evict(9), 2010 + n)
    used_in_the_middle(engine, cache, block, n)


def used_in_the_middle(engine: Any, cache: Any, block: int, n: int) -> None:
    """Check that a match refreshes every block of the prefix: evicting the end leaves the rest recently used."""
    long, between = [0] * 2 * block, [1] * block
    cache.insert(long, [700, 701], "long")
    cache.insert(between, [702], "long")
    engine.say("prefix", [*cache.match(long, "long")], 2020 + n)
    cache.lock(between, "long")
    engine.say("evicted", cache.evict(1), 2020 + n)
    cache.unlock(between, "long")
    engine.say("evicted", cache.evict(1), 2030 + n)


# -- the whole engine ------------------------------------------------------------------------------------------------


class Request:
    def __init__(self, id: int, prompt: list[int], new: int, key: str, **sampling: Any) -> None:
        self.id, self.prompt, self.new, self.key, self.sampling = id, prompt, new, key, sampling
        self.text, self.generated = list(prompt), 0
        self.forget()

    def forget(self) -> None:
        """Discard all computed state; keep the text."""
        self.computed, self.first, self.second = 0, {}, []
        self.stamps: list[Any] = []


class Server:
    def __init__(self, engine: Any) -> None:
        self.engine, self.do, self.model = engine, engine.do, engine.model
        self.scheduler = self.do.Scheduler(PAGES, PAGE, BUDGET)
        self.prefixes = self.do.RadixCache(PAGE)
        self.free = list(range(14))
        self.kept: dict[int, Any] = {}
        self.requests: dict[int, Request] = {}
        self.hits = self.steps = self.served = 0

    def add(self, request: Request) -> None:
        self.requests[request.id] = request
        self.scheduler.add(request.id, len(request.prompt), request.new)

    def step(self, number: int) -> bool:
        """Run one step of the scheduler; return True if anything was scheduled."""
        scheduled, preempted, finished = self.scheduler.step()
        self.engine.say("served", [scheduled, sorted(preempted), sorted(finished)], number)
        for id in preempted:
            self.requests[id].forget()
        for id, count in scheduled.items():
            self.advance(self.requests[id], count)
        for id in finished:
            self.leave(self.requests[id])
        return bool(scheduled)

    def advance(self, request: Request, count: int) -> None:
        """Compute `count` tokens of a request; tokens in the prefix cache are reused."""
        if request.computed == 0:
            known, blocks = self.prefixes.match(request.text[:-1], request.key)
            request.reuse = [self.kept[block] for block in blocks]
            self.engine.say("prefix-hit", [known, len(blocks)], request.id)
            self.hits += known
        for _ in range(count):
            place = request.computed
            logits = None
            reused = request.reuse[place // PAGE] if place // PAGE < len(request.reuse) else None
            if reused is not None:
                request.first, page = reused[0], reused[1]
                request.second.append(page[place % PAGE])
            else:
                logits = self.compute(request, place)
            request.computed += 1
            if request.computed % PAGE == 0:
                request.stamps.append((request.first, request.second[-PAGE:]))
        if request.computed == len(request.text):
            self.answer(request, logits)

    def compute(self, request: Request, place: int) -> Tensor:
        """Return the logits of the token at `place`, through both caches."""
        model, at = self.model, torch.tensor([[place]])
        x = model.embedded(torch.tensor([[request.text[place]]]))
        q, k, v = model.projected(x, "a", None)
        heads, request.first = self.do.rope_decode_step(q, k, v, request.first, at, BLOCKS["a"][3])
        x = model.joined(x, "a", heads, "topk_softmax")
        q, k, v = model.projected(x, "b", at[0])
        request.second.append((k[:, :, 0], v[:, :, 0]))
        length = len(request.second)
        padded = -(-length // PAGE) * PAGE
        pools = [torch.zeros(padded, k.shape[1], k.shape[3], dtype=k.dtype) for _ in range(2)]
        for row, pair in enumerate(request.second):
            for pool, part in zip(pools, pair, strict=True):
                pool[row] = part[0]
        pages = [pool.view(padded // PAGE, PAGE, *pool.shape[1:]) for pool in pools]
        table = torch.arange(padded // PAGE)[None]
        out = self.do.paged_attention(q[:, :, 0], *pages, table, torch.tensor([length]))
        x = model.joined(x, "b", out[:, :, None], "topk_softmax")
        self.served += 1
        return self.do.rms_norm(x[:, -1], model.weights["last"]) @ model.weights["table"].T

    def answer(self, request: Request, logits: Tensor) -> None:
        """Append the next token: penalised, filtered, drawn."""
        logits = self.do.repetition_penalty(logits.detach(), torch.tensor([request.text]), 1.1)
        logits = self.do.filter_logits(logits, **request.sampling)
        self.engine.say("logits", logits[0].softmax(-1), 100 * request.id + request.generated, tolerance=1e-3)
        generator = torch.Generator().manual_seed(1000 * request.id + request.generated)
        request.text.append(int(torch.multinomial(logits.softmax(-1)[0], 1, generator=generator)))
        request.generated += 1

    def leave(self, request: Request) -> None:
        """Insert a finished request's pages into the prefix cache for later requests."""
        whole = len(request.stamps)
        while len(self.free) < whole:
            gone = self.prefixes.evict(whole - len(self.free))
            self.engine.say("pages-evicted", len(gone), request.id)
            if not gone:
                return
            self.free += gone
        blocks = [self.free.pop(0) for _ in range(whole)]
        for block, stamp in zip(blocks, request.stamps, strict=True):
            self.kept[block] = stamp
        self.free += self.prefixes.insert(request.text[: whole * PAGE], blocks, request.key)
        self.engine.say("tokens", request.text, request.id)


def serve(engine: Any) -> None:
    """Serve nine requests of two customers: some share a prefix, one has one token, one needs more than free memory."""
    text, server = engine.text, Server(engine)
    start = text[:9]
    arrivals = [
        (0, Request(4, start, 6, "ann", temperature=0.8)),
        (0, Request(2, text[30:35], 9, "ann", top_k=3)),
        (2, Request(7, text[50:51], 5, "ann", top_p=0.6)),
        (9, Request(1, [*start, text[20]], 5, "ann", top_k=1)),
        (9, Request(9, [*start, text[21]], 4, "bob", min_p=0.2)),
        (14, Request(3, text[60:85], 8, "bob", top_k=2, temperature=2.0)),
        (15, Request(8, [*start[:5], *text[70:77]], 7, "ann", top_k=1)),
        (40, Request(6, start[:8], 30, "ann", top_k=1)),
        (26, Request(5, [*start, text[21], text[1]], 3, "bob", top_p=0.9, top_k=4)),
    ]
    for step in range(MOST_STEPS):
        while arrivals and arrivals[0][0] <= step:
            server.add(arrivals.pop(0)[1])
        if not server.step(step) and not arrivals:
            break
    for id, request in server.requests.items():
        whole = engine.model.logits(torch.tensor(request.text)[None])[0, -1].detach()
        engine.say("whole-text", [request.text, whole], id, tolerance=1e-3)
    engine.say("counts", [server.served, server.hits, step])
    written = bytes(engine.alphabet[token] for token in server.requests[6].text)
    engine.say("sample", written.decode("utf-8", "ignore"))
    engine.say("day", [server.served, sum(request.generated for request in server.requests.values())])
