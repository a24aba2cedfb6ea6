"""Generate sources from a seed, hard to read or ordinary: long, nested, repetitive, or not even text."""

import random
from collections.abc import Callable

LARGEST = 128 * 1024
HEAD = "import torch\nimport torch.nn.functional as F\n"
ORDINARY = (
    "def f(x):\n    return (x - x.mean(-1, keepdim=True)).exp()\n",
    "class A:\n    def __init__(self, n=3, *rest, key=None, **more):\n        self.n = n\n",
    "y = F.linear(torch.zeros(2, 3), torch.nn.init.zeros_(torch.empty(3, 3)))\n",
    "def g(open, *vars):\n    global input\n    return [open for open in vars if (input := open)]\n",
    "z = lambda q, k, v: torch.softmax(q @ k.mT, dim=-1) @ v\n",
    "try:\n    pass\nexcept* ValueError as error:\n    pass\nasync def h():\n    async for a in b:\n        yield a\n",
    "match x:\n    case {'a': [1, *rest], **more} if rest:\n        pass\n",
    "@a.b.c\ndef k(a, /, b: int = 1, *, c=eval) -> F.torch._C:\n    return f'{a!r:>{b}} {c=}'\n",
)
# So much of each, side by side.
REPEATED = (
    "a,", "F.a,", "torch.z,", "lambda:0,", "f(),", "*a,", "1:1,", "[a for a in a],", "getattr(torch,'a'),", "a:=1,",
    "a;", "\n", "\\\n", "'a'", "b'a'", "f'{a}'", "1<", "1+", "-", "not ", "(", "[", "{", "()", "[0]", ".a", ".torch",
    "#", "def f():0\n", "class A:0\n", "global open\n", "import torch.a\n", "from torch import a\n", "@a\n", "x:a\n",
    "del a\n", "m=torch.nn\n", "if a:0\n", "elif a:0\n", "try:0\nexcept:0\n", "case 1:0\n", "with a:0\n", "é", "\t",
    "\f", "\r", "\0",
)  # fmt: skip
COOKIES = "utf-8 utf8 latin-1 punycode utf-7 idna rot13 utf-16 unicode_escape zip nonsense ".split(" ")


def source(seed: int) -> bytes:
    """Return one source: most have some KiB, one in a hundred has the largest permitted size."""
    chance = random.Random(seed)
    size = LARGEST if chance.random() < 0.01 else int(2 ** chance.uniform(2, 12))
    made = chance.choice(_MAKERS)(chance, size)
    data = made.encode("utf-8", "surrogatepass")
    return _spoilt(chance, data[:LARGEST]) if chance.random() < 0.2 else data[:LARGEST]


def _ordinary(chance: random.Random, size: int) -> str:
    return HEAD + "".join(chance.choices(ORDINARY, k=max(1, size // 80)))


def _repeated(chance: random.Random, size: int) -> str:
    one = chance.choice(REPEATED)
    before, after = chance.choice([("", ""), ("x=[", "]\n"), ("f(", ")\n"), ("def f(): return [", "]"), (HEAD, "x\n")])
    return before + one * (size // len(one.encode())) + after


def _mixed(chance: random.Random, size: int) -> str:
    return "".join(chance.choices(REPEATED, k=size // 3))


def _nested(chance: random.Random, size: int) -> str:
    opened, closed = chance.choice(
        [("(", ")"), ("[", "]"), ("{", "}"), ("f(", ")"), ("lambda open:", ""), ("-", ""), ("a[", "]")]
    )
    depth = chance.choice([20, 90, 190, 1000, size])
    return "x = " + opened * depth + "1" + closed * depth + "\n"


def _blocks(chance: random.Random, size: int) -> str:
    begun = chance.choice(["if a:", "def f(open):", "class A:", "for a in b:", "with a:", "try:"])
    depth = min(chance.choice([5, 50, 99, 120]), size)
    return "".join(f"{' ' * k}{begun}\n" for k in range(depth)) + " " * depth + "open\n"


def _scopes(chance: random.Random, size: int) -> str:
    names = ",".join(f"a{k:x}" for k in range(size // 10))
    return f"def f({names}): return [{'lambda:open,' * (size // 24)}]\n"


def _strings(chance: random.Random, size: int) -> str:
    body = chance.choice(["{a}", "{a!r:>{b}}", "{{}}", "\\u0041", "\\N{DIGIT ONE}", "\\x0", "{", "}", "'", "\n", "a"])
    prefix, quote = chance.choice(["", "f", "rb", "F", "u"]), chance.choice(["'", '"""'])
    return f"x = {prefix}{quote}{body * (size // len(body))}{quote}\n"


def _numbers(chance: random.Random, size: int) -> str:
    return "x = " + chance.choice(["", "0x", "0b", "1e", "1.", "0_"]) + chance.choice("019fj_") * size + "\n"


def _long_names(chance: random.Random, size: int) -> str:
    joint = chance.choice(["", ".", "._", ".torch.", "_"])
    name = joint.join(chance.choice(["a", "torch", "nn", "ℌ", "_C"]) for _ in range(size // 4))
    return chance.choice(
        ["import {0} as m\nm.x\n", "from {0} import a\n", "x.{0}\n", "{0} = 1\n", "torch.{0}\n"]
    ).format(name)


def _noise(chance: random.Random, size: int) -> str:
    return "".join(
        chr(chance.choice([chance.randrange(128), chance.randrange(0x3000), chance.randrange(0x110000)]))
        for _ in range(size // 4)
    )


def _spoilt(chance: random.Random, data: bytes) -> bytes:
    """Add an encoding cookie, a byte order mark, or invalid bytes."""
    if chance.random() < 0.5:
        return f"# -*- coding: {chance.choice(COOKIES)} -*-\n".encode() + data[: LARGEST - 40]
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\0", b"\x80"]) + data[place:]


_MAKERS: tuple[Callable[[random.Random, int], str], ...] = (
    *(_ordinary, _repeated, _mixed, _nested, _blocks, _scopes, _strings, _numbers, _long_names, _noise),
)
