"""Read YAML into plain values, safely for any bytes, and find the line and column of what a message is about.

YAML is read as a stream of events with a stack of our own: nothing recurses, so nesting cannot crash it (it crashes
PyYAML's C composer). Depth, number of values and size are bounded. Anchors, aliases and tags are refused, so nothing
can be expanded or constructed. Values carry no positions: `located` reads the text once more, for only those paths
that messages need.
"""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unicodedata import normalize

import yaml

from attncli.bank.problems import Finding, Problem, Way, shown, shown_path, visible

MAX_BYTES = 128 * 1024 * 1024
MAX_DEPTH = 24
MAX_VALUES = 5_000_000
MAX_PROBLEMS = 1000

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_LINE_BREAK = re.compile("\r\n|\r|\n")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_REMEDIES = (
    (
        "mapping values are not allowed",
        "put text that contains a colon and a space in quotes, or check the indentation",
    ),
    ("cannot start any token", "indent with spaces, not tabs, and quote text that starts with one of % @ ` or a tab"),
    ("unknown escape character", "use single quotes or a | block for text with backslashes"),
    ("quoted scalar", 'close the quote; inside double quotes write \\" for a quote and \\\\ for a backslash'),
    ("expected ',' or '}'", "close the brace, and quote text with commas, colons or braces inside { }"),
    ("expected ',' or ']'", "close the bracket, and quote text with commas or brackets inside [ ]"),
    ("expected key", "check the indentation of this line against the lines above it"),
    ("expected ':'", "a key ends with a colon and a space; check the indentation and quotes of the lines above"),
    ("expected '-' indicator", "items of one list start with - in the same column"),
    ("expected <block end>", "check the indentation of this line against the lines above it"),
    ("incompatible YAML document", "remove the %YAML line"),
)
_DEFAULT_REMEDY = "check indentation, quotes and brackets here and on the line above"


Place = tuple[int, int]
"""Line and column, from 1."""


@dataclass(slots=True)
class Parsed:
    """The value of a file, and the problems in reading it. `broken` are paths whose value is not to be trusted.

    `whole` is false when reading stopped early: `value` is then incomplete.
    """

    value: Any = None
    problems: list[Problem] = field(default_factory=list)
    broken: set[Way] = field(default_factory=set)
    whole: bool = True


class UnreadableYaml(Exception):
    """Reading stopped, because of `problem`."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_text(path: Path) -> str:
    """Read the text of a bank file.

    Raises:
        UnreadableYaml: it is missing, no regular file, too large, or not UTF-8 text.
    """
    name = shown_path(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableYaml(Problem(name, 1, 1, "this is not a regular file; give a .yaml file"))
        _refuse_size(name, status.st_size)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read ({reason}); check the path and its permissions"
        raise UnreadableYaml(Problem(name, 1, 1, message)) from None
    return decode(name, data)


def _refuse_size(name: str, size: int) -> None:
    if size > MAX_BYTES:
        message = f"the file has {size} bytes, more than {MAX_BYTES // (1024 * 1024)} MiB; split it by topic"
        raise UnreadableYaml(Problem(name, 1, 1, message))


def decode(name: str, data: bytes) -> str:
    """Decode UTF-8, without a byte order mark, composed (NFC) so that different spellings match.

    Raises:
        UnreadableYaml: too large, not UTF-8, or characters that no editor shows.
    """
    _refuse_size(name, len(data))
    try:
        text = normalize("NFC", data.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        message = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise UnreadableYaml(Problem(name, line, column, message)) from None
    text = text.removeprefix("\ufeff")
    if found := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        message = f"character U+{ord(found.group()):04X} cannot be shown; delete it"
        raise UnreadableYaml(Problem(name, line, column, message))
    return text


def events(name: str, text: str, loader: Any = None) -> Iterator[Any]:
    """Yield the YAML events of a text.

    Raises:
        UnreadableYaml: malformed YAML.
    """
    source = (loader or LOADER)(text)
    try:
        while source.check_event():
            yield source.get_event()
    except yaml.MarkedYAMLError as error:
        raise UnreadableYaml(_malformed(name, error)) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # The pure-Python scanner raises ValueError on escapes beyond Unicode and on endless version numbers.
        line = " ".join(str(error).split())
        raise UnreadableYaml(Problem(name, 1, 1, f"malformed YAML: {line[:120]}; {_DEFAULT_REMEDY}")) from None
    finally:
        source.dispose()


def _malformed(name: str, error: yaml.MarkedYAMLError) -> Problem:
    reason = " ".join(part for part in (error.context, error.problem) if part)
    remedy = next((remedy for words, remedy in _REMEDIES if words in reason), _DEFAULT_REMEDY)
    mark = _mark(error)
    place = _place_of(mark) if mark else (1, 1)
    return Problem(name, *place, f"malformed YAML: {error.problem or error.context}; {remedy}")


def _mark(error: yaml.MarkedYAMLError) -> Any:
    """Return the opening quote or bracket if its end is missing on a later line, else the place of the fault."""
    opening, fault = error.context_mark, error.problem_mark
    if opening is None or fault is None:
        return fault or opening
    unclosed = any(word in (error.context or "") for word in ("quoted scalar", "flow"))
    return opening if unclosed and opening.line != fault.line else fault


def _place_of(mark: Any) -> Place:
    return mark.line + 1, mark.column + 1


def parse(name: str, text: str, loader: Any = None) -> Parsed:
    """Read the plain value of a YAML text; malformed text gives a problem, never an exception."""
    builder = _Builder(name)
    try:
        for event in events(name, text, loader):
            builder.take[type(event)](event)
    except UnreadableYaml as stop:
        builder.parsed.problems.append(stop.problem)
        builder.parsed.whole = False
    builder.parsed.problems = [_inside(problem, text) for problem in builder.parsed.problems]
    return builder.parsed


def _inside(problem: Problem, text: str) -> Problem:
    """Move a problem into the text: PyYAML counts a line break after a last line without one."""
    lines = len(_LINE_BREAK.findall(text)) + 1 if problem.line > 1 else 1
    if problem.line <= lines:
        return problem
    last = _LINE_BREAK.split(text)[-1]
    return replace(problem, line=lines, column=len(last) + 1)


_NO_KEY: Any = object()


class _Builder:
    """Builds plain dicts and lists from events; `stack` holds the open containers, `keys` their pending keys."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parsed = Parsed()
        self.stack: list[Any] = []
        self.keys: list[Any] = []
        self.steps: list[str | int] = []
        self.values = 0
        self.documents = 0
        self.take: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: lambda event: self._open({}, event),
            yaml.SequenceStartEvent: lambda event: self._open([], event),
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._document,
            **dict.fromkeys((yaml.DocumentEndEvent, yaml.StreamStartEvent, yaml.StreamEndEvent), lambda event: None),
        }

    def _document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self._stop(event, "a second document starts here; keep one document in a file and remove the --- line")

    def _scalar(self, event: Any) -> None:
        self._check(event)
        value = event.value
        plain = event.implicit[0] and not event.tag
        if not plain and (found := _UNPRINTABLE.search(value)):
            self._report(event, f"character U+{ord(found.group()):04X} in this text cannot be shown; delete it")
            self.parsed.broken.add(self._path())
        if self._awaits_key():
            self._key(event, value)
        else:
            self._put(resolve(value) if plain else value, event)

    def _open(self, container: Any, event: Any) -> None:
        if self._awaits_key():
            self._stop(event, "a list or mapping cannot be a key; use a plain word as the key, or quote it")
        self._check(event)
        if len(self.stack) >= MAX_DEPTH:
            self._stop(event, f"nested deeper than {MAX_DEPTH} levels; write it flatter")
        self.steps = list(self._path())
        self._put(container, event)
        self.stack.append(container)
        self.keys.append(_NO_KEY)

    def _end(self, event: Any) -> None:
        self.stack.pop()
        self.keys.pop()
        if self.steps:
            self.steps.pop()

    def _alias(self, event: Any) -> None:
        self._report(event, f"alias *{event.anchor[:40]}: aliases are not read here; write the value out")
        if self._awaits_key():
            self._key(event, f"*{event.anchor}")
        else:
            self.parsed.broken.add(self._path())
            self._put(None, event)

    def _check(self, event: Any) -> None:
        if event.anchor is not None:
            self._report(
                event, f"anchor &{event.anchor[:40]}: anchors are not read here; remove it and write values out"
            )
        if event.tag is not None:
            self._report(event, f"tag {shown(event.tag, 40)}: tags are not read here; remove it")
            self.parsed.broken.add(self._path())

    def _awaits_key(self) -> bool:
        return bool(self.stack) and self.keys[-1] is _NO_KEY and type(self.stack[-1]) is dict

    def _key(self, event: Any, key: str) -> None:
        if key in self.stack[-1]:
            self._report(event, f"duplicate key {shown(key)}: remove one of the two")
        self.keys[-1] = key

    def _put(self, value: Any, event: Any) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            self._stop(event, f"more than {MAX_VALUES} values in one file; split it by topic")
        if not self.stack:
            self.parsed.value = value
            return
        top = self.stack[-1]
        if type(top) is list:
            top.append(value)
            return
        top.setdefault(self.keys[-1], value)
        self.keys[-1] = _NO_KEY

    def _path(self) -> Way:
        if not self.stack:
            return ()
        top = self.stack[-1]
        step = len(top) if type(top) is list else self.keys[-1]
        return (*self.steps, step) if step is not _NO_KEY else tuple(self.steps)

    def _report(self, event: Any, message: str) -> None:
        self.parsed.problems.append(Problem(self.name, *_place_of(event.start_mark), message))
        if len(self.parsed.problems) >= MAX_PROBLEMS:
            self._stop(event, f"more than {MAX_PROBLEMS} problems; correct these first")

    def _stop(self, event: Any, message: str) -> None:
        raise UnreadableYaml(Problem(self.name, *_place_of(event.start_mark), message))


# Unquoted scalars

_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "True": True,
    "false": False,
    "False": False,
}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?(?:[eE][-+]?[0-9]{1,4})?\Z")
_NUMBER_STARTS = frozenset("+-0123456789")


def resolve(word: str) -> bool | int | float | str | None:
    """Return the value of an unquoted scalar: null, true, false or a decimal number, else text.

    Far fewer words are special than in YAML 1.1: `1_000`, `0x10`, `1:30` and `.inf` are text too.

    >>> resolve("24"), resolve("1e-5"), resolve("true"), resolve("no"), resolve("2017-06")
    (24, 1e-05, True, 'no', '2017-06')
    """
    if word in _WORDS:
        return _WORDS[word]
    if word[0] not in _NUMBER_STARTS or len(word) > 90:
        return word
    if _INTEGER.match(word):
        return int(word)
    if _FLOAT.match(word):
        number = float(word)
        return number if math.isfinite(number) else word
    return word


# Lines and columns


@dataclass(slots=True)
class _Searched:
    """A node in the tree of searched paths; the places of its `value` and `key` are filled in when they are met."""

    children: dict[str | int, _Searched]
    value: Place | None = None
    key: Place | None = None

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children.values())


def located(name: str, text: str, findings: Iterable[Finding]) -> list[Problem]:
    """Turn findings into problems with line and column; a path that does not exist gets the place of its parent."""
    findings = list(findings)
    root = _Searched({})
    for finding in findings:
        node = root
        for step in finding.path:
            node = node.children.setdefault(step, _Searched({}))
    if findings:
        _walk(name, text, root)
    return [_inside(Problem(name, *_place(root, finding), visible(finding.message)), text) for finding in findings]


def _place(node: _Searched, finding: Finding) -> Place:
    place = node.value or (1, 1)
    for step in finding.path:
        node = node.children[step]
        place = (node.key if finding.at_key else None) or node.value or place
    return place


def _walk(name: str, text: str, root: _Searched) -> None:
    walker = _Walker(root)
    try:
        for event in events(name, text):
            walker.take(event)
            if not walker.left:
                return
    except UnreadableYaml:
        return  # what came before the fault has its places


@dataclass(slots=True)
class _Level:
    """An open list or mapping; `next` is the position or key of the next value, None while a key comes next."""

    searched: _Searched | None
    is_list: bool
    next: Any


class _Walker:
    """Follows the events of a text and fills in the places below `root`; `left` values are still missing."""

    def __init__(self, root: _Searched) -> None:
        self.root = root
        self.left = root.size()
        self.levels: list[_Level] = []

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.NodeEvent):
            self._node(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.levels.pop()

    def _node(self, event: Any) -> None:
        level = self.levels[-1] if self.levels else None
        place = _place_of(event.start_mark)
        if level is not None and level.next is None:
            self._key(level, event, place)
            return
        searched = self._met(level, place)
        if isinstance(event, yaml.CollectionStartEvent):
            is_list = isinstance(event, yaml.SequenceStartEvent)
            self.levels.append(_Level(searched, is_list, 0 if is_list else None))

    def _key(self, level: _Level, event: Any, place: Place) -> None:
        level.next = event.value if isinstance(event, yaml.ScalarEvent) else f"*{getattr(event, 'anchor', '')}"
        node = level.searched and level.searched.children.get(level.next)
        if node and node.key is None:
            node.key = place

    def _met(self, level: _Level | None, place: Place) -> _Searched | None:
        """Fill in the place of the value that starts here; None if its path is not searched."""
        node: _Searched | None = self.root
        if level is not None:
            node = level.searched.children.get(level.next) if level.searched else None
            level.next = level.next + 1 if level.is_list else None
        if node is None or node.value is not None:
            return None
        node.value = place
        self.left -= 1
        return node
