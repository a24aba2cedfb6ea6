"""Convert exceptions to plain data, however hostile their classes are."""

from __future__ import annotations

import errno
import json
from typing import Any

import pytest

from attncli.sandbox.worker import FRAMES_KEPT, TEXT_LIMIT, ExceptionGuard, report

FILENAME = "learners.py"
ERRORS = {errno.ENOMEM: "memory", errno.ENOENT: "exception"}
ERRORS |= dict.fromkeys((errno.EPERM, errno.EACCES, errno.EROFS, errno.ENETUNREACH), "refused")


def reported(source: str) -> dict[str, Any]:
    """Return the report of the exception that a source raises, as sent to the judge."""
    guard = ExceptionGuard()
    with guard:
        exec(compile(source, FILENAME, "exec"), {"__name__": "submission"})
    found: dict[str, Any] = json.loads(json.dumps(report(guard, FILENAME)))
    return found


def test_reasons() -> None:
    for source, reason in (
        ("1 / 0", "exception"),
        ("raise KeyboardInterrupt", "exception"),
        ("raise SystemExit(0)", "exited"),
        ("raise MemoryError", "memory"),
        ("raise RuntimeError('[enforce fail] DefaultCPUAllocator: can\\'t allocate memory')", "memory"),
        *((f"raise OSError({number}, 'x')", reason) for number, reason in ERRORS.items()),
        ("import socket\nraise socket.gaierror(-3, 'x')", "refused"),
        (f"try: raise OSError({errno.EPERM}, 'x')\nexcept OSError as e: raise ValueError('y') from e", "refused"),
        ("try: raise MemoryError\nexcept MemoryError: raise ValueError('y')", "memory"),
        ('raise RuntimeError("can\'t start new thread")', "refused"),
        ("raise RuntimeError('mat1 and mat2 shapes cannot be multiplied')", "exception"),
    ):
        assert reported(source)["reason"] == reason, source


def test_frames_are_those_of_the_learners_file() -> None:
    found = reported("import json\ndef f():\n    json.loads('{')\nf()")
    assert [(frame["line"], frame["function"]) for frame in found["frames"]] == [(4, "<module>"), (3, "f")]
    assert found["type"] == "json.decoder.JSONDecodeError"
    assert reported("x = 1\ny = (")["frames"] == [{"line": 2, "function": "<module>", "code": ""}]
    deep = reported("def f(n):\n    if n == 0:\n        1 / 0\n    f(n - 1)\nf(200)")["frames"]
    assert len(deep) == FRAMES_KEPT and [deep[0]["line"], deep[-1]["line"]] == [5, 3], "the first and the last"


HOSTILE = {
    "__str__ raises": "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
    "__str__ is no string": "class E(Exception):\n    def __str__(self): return 3\nraise E",
    "__str__ is huge": "class E(Exception):\n    def __str__(self): return 'x' * 10 ** 8\nraise E",
    "a lying string": (
        "class S(str):\n    def __str__(self): raise SystemExit\n    def __getitem__(self, k): raise SystemExit\n"
        "class E(Exception):\n    def __str__(self): return S('text')\nraise E"
    ),
    "a metaclass that lies": (
        "class M(type):\n    def __getattribute__(self, name): raise SystemExit\n"
        "class E(Exception, metaclass=M): pass\nraise E"
    ),
    "a class that lies": "class E(Exception):\n    def __getattribute__(self, name): raise SystemExit\nraise E",
    "a module that is no string": "class E(Exception): pass\nE.__module__ = 3\nraise E",
    "a chain that is a ring": ("a, b = ValueError(), KeyError()\na.__cause__, b.__cause__ = b, a\nraise a"),
    "errno that lies": "class E(OSError):\n    @property\n    def errno(self): raise SystemExit\nraise E(1, 'x')",
    "surrogates": "raise ValueError('\\ud800')",
    "a base exception": "class E(BaseException): pass\nraise E('x')",
    "an exception group": "raise ExceptionGroup('x', [ValueError('y')])",
    "an unequal exception": "class E(Exception):\n    def __eq__(self, other): raise SystemExit\nraise E from E()",
}


def test_hostile_exceptions_are_reported_and_nothing_raised_is_nothing_to_report() -> None:
    for name, source in HOSTILE.items():
        found = reported(source)
        assert found["op"] == "raised" and found["type"] and found["frames"], name
        assert len(found["text"]) <= TEXT_LIMIT
    with pytest.raises(ValueError, match="nothing was raised"):
        report(ExceptionGuard(), FILENAME)


def test_a_syntax_error_may_say_anything_of_its_line() -> None:
    guard = ExceptionGuard()
    for said, line in ((7, 7), ("x", 0), (10**9, 0), (-1, 0), (float("nan"), 0), ([1], 0), (None, 0)):
        guard.error = SyntaxError("odd")
        guard.error.lineno = said
        assert report(guard, FILENAME)["frames"] == [{"line": line, "function": "<module>", "code": ""}]
