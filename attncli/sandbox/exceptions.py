"""The learner's exception as plain data: type, text, the lines of their file, and what kind of failure it was.

The exception is hostile input: its class may lie, its `__str__` may raise, loop or return a gigabyte. Nothing of it is
trusted beyond what `type` and the traceback say.
"""

from __future__ import annotations

import errno
import linecache
from collections import deque
from types import TracebackType
from typing import Any

from .kernel_memory import KernelFault

TEXT_LIMIT = 4000
FRAMES_KEPT = 20
_CHAIN_LIMIT = 8
MOST_LINES = 1 << 24
_REFUSED_ERRORS = frozenset(
    {
        errno.EPERM,
        errno.EACCES,
        errno.EROFS,
        errno.EFBIG,
        errno.ENETUNREACH,
        errno.EAGAIN,
    }  # the last: too many processes
)
_MEMORY_WORDS = ("can't allocate memory", "DefaultCPUAllocator", "not enough memory", "std::bad_alloc")
_REFUSED_WORDS = ("can't start new thread",)


class ExceptionGuard:
    """Runs the learner's code: whatever is raised inside the `with` block stops here and is kept."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.trace: TracebackType | None = None

    def __enter__(self) -> ExceptionGuard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error, self.trace = error, trace
        return error is not None


def _plain(value: object) -> str:
    """The exact `str` behind a string, which may be of a hostile subclass; empty for anything else."""
    return str.__str__(value)[:TEXT_LIMIT] if issubclass(type(value), str) else ""


def type_name(error: BaseException) -> str:
    """The qualified name of the exception's class, without asking the class itself."""
    kind = type(error)
    name = _plain(type.__dict__["__qualname__"].__get__(kind))
    module = ""
    with ExceptionGuard():
        module = _plain(type.__getattribute__(kind, "__module__"))
    return name if module in ("builtins", "submission", "") else f"{module}.{name}"


def text_of(error: BaseException) -> str:
    """`str(error)`, bounded, or a note that it could not be had."""
    guard, text = ExceptionGuard(), ""
    with guard:
        text = _plain(str(error))
    return text if guard.error is None else "(its text could not be had: __str__ raised)"


def frames_of(error: BaseException, trace: TracebackType | None, filename: str) -> list[dict[str, Any]]:
    """The traceback's frames that lie in the learner's file, first and last ones if they are many."""
    half = FRAMES_KEPT // 2
    first: list[tuple[int, str]] = []
    last: deque[tuple[int, str]] = deque(maxlen=half)
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == filename:
            (first if len(first) < half else last).append((trace.tb_lineno, code.co_name))
        trace = trace.tb_next
    if not first and type(error) in (SyntaxError, IndentationError, TabError):
        line = _real(SyntaxError, "lineno", error)
        first.append((line if type(line) is int and 0 <= line < MOST_LINES else 0, "<module>"))
    return [_frame(filename, line, function) for line, function in [*first, *last]]


def _frame(filename: str, line: int, function: str) -> dict[str, Any]:
    code = linecache.getline(filename, line).strip()
    return {"line": line, "function": function[:200], "code": code[:200]}


def reason_of(error: BaseException, text: str) -> str:
    """One of the report's reasons: memory, refused, exited, exception."""
    if issubclass(type(error), SystemExit):
        return "exited"
    for link in _chain(error):
        kind = type(link)
        if issubclass(kind, MemoryError):
            return "memory"
        if issubclass(kind, OSError):
            number = _real(OSError, "errno", link)
            if number == errno.ENOMEM:
                return "memory"
            if number in _REFUSED_ERRORS or kind.__name__ == "gaierror":
                return "refused"
    if issubclass(type(error), RuntimeError):
        if any(words in text for words in _MEMORY_WORDS):
            return "memory"
        if any(words in text for words in _REFUSED_WORDS):
            return "refused"
    return "exception"


def _real(owner: type, attribute: str, error: BaseException) -> Any:
    """The attribute as the interpreter keeps it, whatever the exception's own class says of it."""
    return owner.__dict__[attribute].__get__(error)


def _chain(error: BaseException) -> list[BaseException]:
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and len(links) < _CHAIN_LIMIT:
        links.append(link)
        cause = _real(BaseException, "__cause__", link)
        link = cause if cause is not None else _real(BaseException, "__context__", link)
    return links


def report(guard: ExceptionGuard, filename: str) -> dict[str, Any]:
    """The `raised` reply for what a guard caught."""
    error = guard.error
    if error is None:
        raise ValueError("nothing was raised")
    text = text_of(error)
    fault = {"fault": error.fault} if type(error) is KernelFault else {}
    return {
        "op": "raised",
        "type": type_name(error),
        "text": text,
        "frames": frames_of(error, guard.trace, filename),
        "reason": reason_of(error, text),
        **fault,
    }
