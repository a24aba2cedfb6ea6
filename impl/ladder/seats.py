"""The frame of the engine: a seat for every piece, and the log of the engine's outputs.

`attn ladder` loads this file into its own process, sends the other engine files and the pieces to it as text, and
runs the parts of the day in order. A piece is the learner's or a reference; the engine cannot tell them apart.
Decisions:
- results are logged as numbers and short facts, each under a place name: two engines that differ in one piece are
  compared place by place, outside this process;
- a seat counts calls and checks that arguments and earlier results stay unchanged: an engine shares tensors.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# Arguments that a piece may change: the optimiser's state, a random generator.
MEANT_TO_CHANGE = {"adamw_step": (2,), "spec_step": (3,)}
KEPT_RESULTS = 12
# In each part of the day the first LOOKED_AT calls of a piece are checked, then every sixteenth.
LOOKED_AT = 150


class Log:
    """The engine's log: entries (place, n, facts, count of numbers, tolerance), and the numbers themselves."""

    def __init__(self) -> None:
        self.entries: list[list[Any]] = []
        self.numbers: list[float] = []

    def say(self, place: str, value: Any, n: int = 0, tolerance: float = 1e-9) -> None:
        """Log the n-th `value` at `place`. The tolerance is relative to the largest of its numbers."""
        found: list[float] = []
        facts = plain(value, found)
        self.entries.append([place, n, facts, len(found), tolerance])
        self.numbers.extend(found)


def plain(value: Any, numbers: list[float]) -> Any:
    """Return `value` without its floating-point numbers, which are appended to `numbers`."""
    if isinstance(value, Tensor):
        if value.is_floating_point():
            numbers.extend(value.detach().double().flatten().tolist())
            return [str(value.dtype), list(value.shape)]
        return [str(value.dtype), list(value.shape), value.detach().flatten().tolist()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(plain(part, numbers) for part in value)]
    if isinstance(value, dict):
        return [[str(key), plain(value[key], numbers)] for key in sorted(value, key=str)]
    if type(value) is float:
        numbers.append(value)
        return "float"
    return value if value is None or type(value) in (bool, int, str) else type(value).__name__


class Seats:
    """The entry points of all pieces, by name."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.calls: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.kept: dict[str, list[tuple[Tensor, Tensor]]] = {}
        # The same functions unwatched, for calls that are measured.
        self.bare = types.SimpleNamespace()

    def put(self, id: str, source: str, names: list[str]) -> None:
        """Run a piece's file, and register its entry points under their names."""
        module = module_of(f"piece_{id.replace('-', '_')}", f"{id}.py", source)
        for name in names:
            entry = getattr(module, name)
            setattr(self.bare, name, entry)
            setattr(self, name, self._made(id, entry) if isinstance(entry, type) else self._watched(id, name, entry))

    def _watched(self, id: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls[id] += 1
            if self.calls[id] > LOOKED_AT and self.calls[id] % 16:
                return function(*args, **kwargs)
            spared = MEANT_TO_CHANGE.get(name, ())
            given = [part for k, part in enumerate(args) if k not in spared] + list(kwargs.values())
            before = copied(given)
            result = function(*args, **kwargs)
            self.changed[id] += not same(before, given)
            kept = self.kept.setdefault(id, [])
            if len(kept) < KEPT_RESULTS:
                kept.extend((part, part.detach().clone()) for part in tensors(result))
            return result

        return call

    def _made(self, id: str, kind: type) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Watched:
            self.calls[id] += 1
            return Watched(kind(*args, **kwargs), lambda name, method: self._watched(id, name, method))

        return make

    def say_untouched(self) -> None:
        """Log how many calls changed their arguments, and how many earlier results changed since."""
        for id in sorted(self.calls):
            self.log.say("arguments", [id, self.changed[id]])
            results = sum(not same(before, now.detach()) for now, before in self.kept.get(id, []))
            self.log.say("results", [id, results])
        self.kept.clear()
        self.changed.clear()


class Watched:
    """Wrap an object of a piece; its methods are watched as functions are."""

    def __init__(self, inner: Any, watch: Callable[[str, Any], Any]) -> None:
        self._inner, self._watch = inner, watch

    def __getattr__(self, name: str) -> Any:
        return self._watch(name, getattr(self._inner, name))


def tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in tensors(part)]


def copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return [copied(part) for part in value]
    return {key: copied(part) for key, part in value.items()} if isinstance(value, dict) else value


def same(before: Any, now: Any) -> bool:
    if isinstance(before, Tensor):
        same_form = isinstance(now, Tensor) and before.shape == now.shape and before.dtype == now.dtype
        return same_form and (
            torch.equal(before, now) or bool(((before == now) | ((before != before) & (now != now))).all())
        )
    if isinstance(before, list):
        return len(before) == len(now) and all(map(same, before, now))
    if isinstance(before, dict):
        return before.keys() == now.keys() and all(same(part, now[key]) for key, part in before.items())
    return True


class Engine:
    """State shared by the parts of the day: the pieces, the log, and the `model` that one part leaves for the next."""

    def __init__(self) -> None:
        self.log = Log()
        self.do = Seats(self.log)
        self.model: Any = None

    def say(self, place: str, value: Any, n: int = 0, tolerance: float = 1e-9) -> None:
        self.log.say(place, value, n, tolerance)

    def refused(self, place: str, kind: type[Exception], call: Callable[[], Any], n: int = 0) -> None:
        """Log True if `call` raises that kind of error, else False."""
        try:
            call()
        except kind:
            self.say(place, True, n)
        else:
            self.say(place, False, n)


def module_of(name: str, filename: str, source: str) -> types.ModuleType:
    """Return a module made from this source; tracebacks can show its lines."""
    module = types.ModuleType(name)
    module.__file__ = filename
    sys.modules[name] = module
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec", dont_inherit=True), module.__dict__)
    return module


engine = Engine()


def set_up(files: dict[str, str]) -> int:
    """Load the engine's other files, given by name in dependency order; return their number."""
    for name, source in files.items():
        module_of(f"ladder_{name}", f"ladder/{name}.py", source)
    return len(files)


def sit(id: str, source: str, names: list[str]) -> bool:
    """Register the entry points of a piece."""
    engine.do.put(id, source, names)
    return True


def live(part: str, checkpoint: list[float] | None = None) -> tuple[str, Tensor]:
    """Run one part of the day; return its log as JSON and the logged numbers. A `checkpoint` replaces the trained
    weights: two correct trainings differ in their last digits, and every later step amplifies that."""
    import json

    torch.manual_seed(0)
    engine.log.entries, engine.log.numbers = [], []
    engine.do.calls.clear()
    if checkpoint is not None:
        engine.model.load(checkpoint)
    sys.modules[f"ladder_{part}"].live(engine)
    engine.do.say_untouched()
    told = json.dumps({"entries": engine.log.entries, "calls": engine.do.calls}, separators=(",", ":"))
    return told, torch.tensor(engine.log.numbers, dtype=torch.float64)
