"""Generate answers that no honest worker sends, and honest answers about code that returns unusual values.

An answer is a header and its bytes. All randomness comes from the given generator.
"""

import json
import math
import random
import struct
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import torch

from attncli.judge.protocol import Request
from attncli.sandbox import interpreter
from attncli.sandbox.values import DTYPES
from attncli.sandbox.worker import ExceptionGuard, report

Answer = tuple[dict[str, Any], bytes]

DTYPE_NAMES = sorted(DTYPES)
TEXTS = [
    *("", "x", "raised", "t", "nan", "\x1b[31mred\x1b]0;title\x07", "\u202eleft", "\ud800", "[/b]<script>", "x" * 5000)
]
NUMBERS = [0, 1, -1, 7, 2**31 - 1, 2**31, -(2**31), 2**63, 2**64 + 1, 2**4095, -(2**5000), 10**400]
FLOATS = [0.0, -0.0, 0.5, 1e308, -1e-308, math.nan, math.inf, -math.inf]
ABSURD: list[list[Any]] = [[0, 2**39, 2**39, 2**39], [2**20] * 4, [2**39, 0], [0] * 9, [-1], [True], ["x"], [2**41]]


def anything(chance: random.Random, depth: int = 0) -> Any:
    """Return a random JSON value."""
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind == 0:
        return chance.choice([None, True, False])
    if kind == 1:
        return chance.choice(NUMBERS)
    if kind == 2:
        return chance.choice(FLOATS)
    if kind in (3, 4):
        return chance.choice(TEXTS)
    if kind == 5:
        return chance.choice([[], {}, [[]], [[[[]]]], ["t", 0], [0, "input"]])
    if kind == 6:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 7:
        return {chance.choice(TEXTS): anything(chance, depth + 1) for _ in range(chance.randrange(4))}
    return [anything(chance, depth + 1)] * chance.choice([1, 2, 300])


class Values:
    """Random value trees with the table entries and bytes of their tensors; `shapes` are the expected shapes."""

    def __init__(self, chance: random.Random, shapes: list[list[int]]) -> None:
        self.chance = chance
        self.shapes = shapes
        self.table: list[dict[str, Any]] = []
        self.payload = bytearray()
        # How many tensors of the answer lie before those of this table.
        self.before = 0

    def tensor(self) -> list[Any]:
        entry, data = tensor_entry(self.chance, self.shapes)
        self.table.append(entry)
        self.payload += data
        return ["t", self.before + len(self.table) - 1]

    def tree(self, depth: int = 0) -> Any:
        chance = self.chance
        kind = chance.randrange(14 if depth < 4 else 10)
        if kind < 4:
            return self.tensor()
        if kind == 4:
            return ["t", chance.choice([0, 0, len(self.table), -1, True, 2**40])]
        if kind < 9:
            return self.scalar()
        if kind == 9:
            return anything(chance)
        return self.container(depth)

    def scalar(self) -> Any:
        chance = self.chance
        return chance.choice(
            [
                ["n"],
                ["b", chance.random() < 0.5],
                ["b", 1],
                ["i", chance.choice(NUMBERS)],
                ["f", chance.choice(FLOATS)],
                ["f", chance.choice(["nan", "inf", "-inf", "12", "x" * 2000])],
                ["s", chance.choice(TEXTS)],
                ["s", "long " * 100_000] if chance.random() < 0.02 else ["s", "short"],
                ["y", chance.choice(["", "00ff", "zz", "0" * 3000])],
                ["dt", chance.choice(["float32", "float8_e4m3fn", 5, "x" * 3000])],
                ["dv", chance.choice(["cpu", "meta", "cuda:77", "mps", "", 3, "x" * 3000])],
                ["o", chance.choice(TEXTS)],
                ["r", 0, [0] * 50],
                ["c", 0],
                ["g", 0],
                ["m", 0],
                ["raised", chance.choice([["ValueError"], [], "ValueError", [5], ["x" * 9999] * 99]), "text"],
            ]
        )

    def container(self, depth: int) -> Any:
        chance = self.chance
        kind = chance.randrange(6)
        if kind == 0:
            return ["l", [self.tree(depth + 1) for _ in range(chance.randrange(5))]]
        if kind == 1:
            return ["u", [self.tree(depth + 1) for _ in range(chance.randrange(5))]]
        if kind == 2:
            return ["d", [[self.key(), self.tree(depth + 1)] for _ in range(chance.randrange(5))]]
        if kind == 3:
            tree: Any = self.tree(depth + 2)
            for _ in range(chance.choice([3, 15, 17, 60])):
                tree = chance.choice([["l", [tree]], ["u", [tree]], ["d", [[["s", "k"], tree]]]])
            return tree
        count = 3000 if chance.random() < 0.01 else 30
        if kind == 4:
            return ["l", [chance.choice([self.scalar(), ["t", 0]])] * count]
        step = chance.choice([1, 2**16, 2**20, 2**61 - 1])
        return ["d", [[["i", k * step], ["n"]] for k in range(count)]]

    def key(self) -> Any:
        chance = self.chance
        return chance.choice(
            [
                ["s", chance.choice(TEXTS)],
                ["i", chance.choice(NUMBERS)],
                ["f", chance.choice(FLOATS)],
                ["b", True],
                ["n"],
                ["o", "Key"],
                ["t", 0],
                ["l", []],
                ["u", [["i", 1], ["s", "a"]]],
                ["u", [["i", 2**61], ["l", []]]],
                anything(chance),
            ]
        )


def tensor_entry(chance: random.Random, shapes: list[list[int]]) -> tuple[dict[str, Any], bytes]:
    name = chance.choice(DTYPE_NAMES)
    if shapes and chance.random() < 0.6:
        shape = list(chance.choice(shapes))
    else:
        shape = [chance.choice([0, 1, 1, 2, 3, 5]) for _ in range(chance.randrange(6))]
    rare = chance.random()
    if rare < 0.003:
        shape = [chance.choice([1 << 16, 1 << 18])]
    elif rare < 0.03:
        shape = chance.choice(ABSURD)
    size = 0
    if all(type(n) is int for n in shape):
        size = math.prod(shape) * DTYPES[name].itemsize
    if not 0 <= size <= 1 << 22:
        size = chance.choice([0, 4])
    entry: dict[str, Any] = {"dtype": name, "shape": shape, "nbytes": size}
    way = chance.random()
    if way < 0.08:
        return {**entry, "device": "meta", "nbytes": 0}, b""
    if way < 0.11:
        entry |= {"stride": [0] * len(shape), "offset": chance.choice([0, 5, -1, 2**62])}
    elif way < 0.14:
        entry[chance.choice(["dtype", "shape", "nbytes"])] = anything(chance)
    return entry, contents(chance, name, size)


def contents(chance: random.Random, name: str, size: int) -> bytes:
    """Return a tensor's bytes: random bits, zeros, or extreme floats."""
    way = chance.randrange(4)
    if way == 0 or size > 1 << 12:
        return bytes(size)
    if way == 1 and name in ("float64", "complex128"):
        return struct.pack("<d", chance.choice([*FLOATS, 1.0])) * (size // 8)
    if way == 2 and name in ("float32", "complex64"):
        return struct.pack("<f", chance.choice([0.0, 1.0, math.nan, math.inf, 3e38])) * (size // 4)
    return chance.randbytes(size)


def replaced(chance: random.Random, header: dict[str, Any]) -> dict[str, Any]:
    """Return the header with random parts replaced by anything or removed."""
    changed: dict[str, Any] = json.loads(json.dumps(header))
    for _ in range(chance.randint(1, 3)):
        container: Any = changed
        while True:
            keys = list(container) if isinstance(container, dict) else list(range(len(container)))
            if not keys:
                break
            key = chance.choice(keys)
            if isinstance(container[key], (dict, list)) and chance.random() < 0.7:
                container = container[key]
                continue
            if chance.random() < 0.1:
                del container[key]
            else:
                container[key] = anything(chance)
            break
    return {**changed, "op": "result"}


def with_other_outcomes(chance: random.Random, honest: Answer, shapes: list[list[int]]) -> Answer:
    """Replace the outcomes of the steps by random values."""
    header, payload = dict(honest[0]), honest[1]
    values = Values(chance, shapes)
    first = len(header["tensors"])
    outcomes = list(header["outcomes"])
    for k in range(len(outcomes)):
        if chance.random() < 0.8:
            outcomes[k] = {"tree": values.tree(), "first": first}
    if chance.random() < 0.2:
        header["shared"] = {"tree": ["l", [values.tree() for _ in header["shared"]["tree"][1]]], "first": first}
    header["outcomes"] = outcomes
    header["tensors"] = [*header["tensors"], *values.table]
    if "gradients" in header:
        header["gradients"] = chance.choice([header["gradients"], len(header["tensors"]), 0])
    return header, payload + bytes(values.payload)


def with_other_parts(chance: random.Random, honest: Answer, shapes: list[list[int]]) -> Answer:
    """Replace some parts of the outcomes, and keep their structure."""
    header, values = dict(honest[0]), Values(chance, shapes)

    def changed(tree: Any) -> Any:
        if chance.random() < 0.15:
            return values.scalar() if "gradients" in header or chance.random() < 0.5 else values.tree(3)
        if tree[0] in ("l", "u"):
            return [tree[0], [changed(item) for item in tree[1]]]
        if tree[0] == "d":
            return ["d", [[key, changed(item)] for key, item in tree[1]]]
        return tree

    outcomes = []
    for item in header["outcomes"]:
        values.before = len(header["tensors"]) - item["first"]
        outcomes.append({"tree": changed(item["tree"]), "first": item["first"]})
    header["outcomes"] = outcomes
    header["tensors"] = [*header["tensors"], *values.table]
    return header, honest[1] + bytes(values.payload)


def with_other_tensors(chance: random.Random, honest: Answer, shapes: list[list[int]]) -> Answer:
    """Replace some tensors by others of any dtype, shape and bits, and keep the structure."""
    header, pieces, position = dict(honest[0]), [], 0
    table = []
    for entry in header["tensors"]:
        data = honest[1][position : position + entry["nbytes"]]
        position += entry["nbytes"]
        way = chance.random()
        if way < 0.4:
            entry, data = tensor_entry(chance, [entry["shape"]] if chance.random() < 0.7 else shapes)
        elif way < 0.7:
            data = contents(chance, entry["dtype"], len(data))
        table.append(entry)
        pieces.append(data)
    header["tensors"] = table
    return header, b"".join(pieces)


def raised(chance: random.Random) -> Answer:
    """Return an exception reply with random fields."""
    header: dict[str, Any] = {
        "op": "raised",
        "type": "ValueError",
        "text": chance.choice(TEXTS),
        "reason": chance.choice(["exception", "memory", "refused", "exited", "too-large", "timeout", "bogus"]),
        "frames": [{"line": 3, "function": "f", "code": "x = 1"}] * chance.choice([0, 1, 500]),
        "touched": chance.choice([[], ["open"], ["x" * 99] * 999]),
    }
    for key in chance.sample(sorted(header), chance.randrange(3)):
        header[key] = anything(chance)
    if chance.random() < 0.3:
        header["frames"] = [{"line": anything(chance), "function": anything(chance), "code": anything(chance)}]
    return {**header, "op": "raised"}, b""


class Lazy:
    """An endless object that makes its parts on request."""

    def __iter__(self) -> Iterator[int]:
        return iter(int, 1)

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, key: Any) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class EndlessDict(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return ((k, None) for k in iter(int, 1))


class Mine(torch.Tensor):
    pass


Pair = namedtuple("Pair", "first second")


def cycle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


THINGS: list[Callable[[], Any]] = [
    cycle,
    Lazy,
    EndlessDict,
    object,
    lambda: (k for k in range(3)),
    lambda: torch.zeros(2).as_subclass(Mine),
    lambda: torch.nn.Parameter(torch.ones(2)),
    lambda: torch.zeros(2, 2).to_sparse(),
    lambda: torch.zeros(2, dtype=torch.uint16),
    lambda: torch.zeros(2).to(torch.float8_e4m3fn),
    lambda: torch.zeros(2, device="meta"),
    lambda: torch.empty(0, 2**39, 1).as_strided((0, 2**39, 2**39, 2**39), (0, 0, 0, 0)),
    lambda: torch.zeros(1).expand(1000, 7),
    lambda: torch.zeros(3, dtype=torch.complex64).conj(),
    lambda: torch.full((2, 3), complex(math.nan, math.inf)),
    lambda: {k * (2**61 - 1): None for k in range(1, 60)},
    lambda: {torch.zeros(1): 1, (1, 2): 2, 1.5: 3, b"x": 4, None: 5, object: 6, True: 7},
    lambda: {"a": {"b": [Pair(1, torch.ones(1)), {1, 2}, frozenset()]}},
    lambda: 2**4000,
    lambda: 2**5000,
    lambda: "\ud800" * 100,
    lambda: "x" * 1_000_001,
    lambda: [torch.zeros(1)] * 50,
    lambda: float("nan"),
    lambda: NotImplemented,
    lambda: torch.float8_e5m2,
    lambda: torch.device("meta"),
    lambda: None,
    lambda: True,
]


class Returns(dict):  # type: ignore[type-arg]
    """A namespace whose every name is a function that returns a random one of THINGS."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    def __missing__(self, name: str) -> Any:
        return self.get(name)

    def get(self, name: str, default: Any = None) -> Any:
        chance = self._chance

        class Thing(torch.nn.Module):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__()

            def __getattr__(self, name: str) -> Any:
                return lambda *args, **kwargs: chance.choice(THINGS)()

        return Thing if name[:1].isupper() else lambda *args, **kwargs: chance.choice(THINGS)()


def served(namespace: dict[str, Any], request: Request, invoke: Any) -> Answer:
    """Return a worker's reply after it ran `namespace`, without its limits."""
    guard = ExceptionGuard()
    with guard:
        reply, buffers = interpreter.serve(
            namespace, {**request.header, "filename": "s.py"}, memoryview(b"".join(request.buffers)), invoke
        )
        return {**reply, "touched": []}, b"".join(buffers)
    return {**report(guard, "s.py"), "touched": []}, b""


def hostile(chance: random.Random, honest: Answer, request: Request, shapes: list[list[int]]) -> Answer:
    """Return a hostile variant of the `honest` answer to a request."""
    way = chance.random()
    if way < 0.2:
        return with_other_outcomes(chance, honest, shapes)
    if way < 0.35:
        return with_other_parts(chance, honest, shapes)
    if way < 0.6:
        return with_other_tensors(chance, honest, shapes)
    if way < 0.85:
        return replaced(chance, honest[0]), honest[1]
    return raised(chance)
