"""Read YAML into plain values, safely for any bytes, with the line and column of each value.

YAML is read as a stream of events, with one Python call for each level of nesting; PyYAML's C composer crashes on deep
nesting. Depth, number of values and size are bounded. Anchors, aliases and tags are refused, so nothing can be expanded
or constructed.
"""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import normalize

import yaml

from attncli.bank.problems import Finding, Problem, Way, shown, shown_path
from attncli.i18n import Localised, _

MAX_BYTES = 128 * 1024 * 1024
MAX_DEPTH = 24
MAX_VALUES = 1_000_000
MAX_PROBLEMS = 1000

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_LINE_BREAK = re.compile("\r\n|\r|\n")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_REMEDIES = (
    (
        "mapping values are not allowed",
        _("put text that contains a colon and a space in quotes, or check the indentation"),
    ),
    (
        "cannot start any token",
        _("indent with spaces, not tabs, and quote text that starts with one of % @ ` or a tab"),
    ),
    ("unknown escape character", _("use single quotes or a | block for text with backslashes")),
    ("quoted scalar", _('close the quote; inside double quotes write \\" for a quote and \\\\ for a backslash')),
    ("expected ',' or '}'", _("close the brace, and quote text with commas, colons or braces inside { }")),
    ("expected ',' or ']'", _("close the bracket, and quote text with commas or brackets inside [ ]")),
    ("expected key", _("check the indentation of this line against the lines above it")),
    ("expected ':'", _("a key ends with a colon and a space; check the indentation and quotes of the lines above")),
    ("expected '-' indicator", _("items of one list start with - in the same column")),
    ("expected <block end>", _("check the indentation of this line against the lines above it")),
    ("incompatible YAML document", _("remove the %YAML line")),
)
_DEFAULT_REMEDY = _("check indentation, quotes and brackets here and on the line above")


Place = tuple[int, int]
"""Line and column, from 1."""


@dataclass
class Parsed:
    """The value of a text, the problems found in reading it, and the places of its values.

    `broken` are paths whose value cannot be trusted. `whole` is false when reading stopped early: `value` is then
    incomplete. `places` maps each path to line and column of its key and of its value, from 0.
    """

    name: str
    text: str = ""
    value: Any = None
    problems: list[Problem] = field(default_factory=list)
    broken: set[Way] = field(default_factory=set)
    whole: bool = True
    places: dict[Way, tuple[int, int, int, int]] = field(default_factory=dict)

    def located(self, findings: Iterable[Finding]) -> list[Problem]:
        """Return findings as problems; a path that does not exist gets the place of its parent."""
        return [Problem(self.name, *self._place(finding), finding.message) for finding in findings]

    def _place(self, finding: Finding) -> Place:
        way = finding.path
        while way and way not in self.places:
            way = way[:-1]
        places = self.places.get(way, (0, 0, 0, 0))
        line, column = places[:2] if finding.at_key else places[2:]
        return self.place(line, column)

    def place(self, line: int, column: int) -> Place:
        """Convert a 0-based PyYAML place, which may lie one line past the end, to a place in the text."""
        return min((line + 1, column + 1), self._end)

    @cached_property
    def _end(self) -> Place:
        lines = _LINE_BREAK.split(self.text)
        return len(lines), len(lines[-1]) + 1


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
            raise UnreadableYaml(Problem(name, 1, 1, _("this is not a regular file; give a .yaml file")))
        _refuse_size(name, status.st_size)
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = _("cannot be read ({reason}); check the path and its permissions", reason=reason)
        raise UnreadableYaml(Problem(name, 1, 1, message)) from None
    return decode(name, data)


def _refuse_size(name: str, size: int) -> None:
    if size > MAX_BYTES:
        message = _(
            "the file has {size} bytes, more than {max_bytes} MiB; split it by topic",
            size=size,
            max_bytes=MAX_BYTES // (1024 * 1024),
        )
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
        message = _("byte 0x{data:02x} is not UTF-8; save the file as UTF-8", data=data[error.start])
        raise UnreadableYaml(Problem(name, line, column, message)) from None
    text = text.removeprefix("\ufeff")
    if found := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        message = _("character U+{found:04X} cannot be shown; delete it", found=ord(found.group()))
        raise UnreadableYaml(Problem(name, line, column, message))
    return text


def parse(name: str, text: str) -> Parsed:
    """Read the plain value of a YAML text; malformed text gives a problem, never an exception."""
    return _Reader(name, text).read()


class _Reader:
    """Builds plain dicts and lists from events. Loops stop when the events end, which keeps all values read so far."""

    def __init__(self, name: str, text: str) -> None:
        self.parsed = Parsed(name, text)
        self.events = self._events()

    def read(self) -> Parsed:
        for event in self.events:
            if isinstance(event, yaml.NodeEvent):
                self.parsed.value = self._value(event, ())
            elif isinstance(event, yaml.DocumentStartEvent) and self.parsed.places:
                message = _("a second document starts here; keep one per file and remove the --- line")
                self._stop(event, message)
        return self.parsed

    def _events(self) -> Generator[Any]:
        """Yield the YAML events of the text, up to where it is malformed."""
        source = LOADER(self.parsed.text)
        try:
            while source.check_event():
                yield source.get_event()
        except yaml.MarkedYAMLError as error:
            self._end_with(_mark(error), _malformed(error))
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            # The pure-Python scanner raises ValueError on escapes beyond Unicode and on endless version numbers.
            reason = " ".join(str(error).split())
            self._end_with(None, _("malformed YAML: {reason}; {remedy}", reason=reason[:120], remedy=_DEFAULT_REMEDY))
        finally:
            source.dispose()

    def _inside(self) -> Iterator[Any]:
        """Yield the events of the open list or mapping, up to its end."""
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            yield event

    def _value(self, event: Any, way: Way, key: Any = None) -> Any:
        """Return the value that starts with `event`, at the path `way`; `key` is the event of its key."""
        start, places = event.start_mark, self.parsed.places
        named = key.start_mark if key else start
        places.setdefault(way, (named.line, named.column, start.line, start.column))
        if len(places) > MAX_VALUES:
            self._stop(event, _("more than {max_values} values in one file; split it by topic", max_values=MAX_VALUES))
            return None
        self._refuse(event, way)
        if isinstance(event, yaml.ScalarEvent):
            return resolve(event.value) if _is_plain(event) else event.value
        if isinstance(event, yaml.AliasEvent):
            self.parsed.broken.add(way)
            return None
        if len(way) >= MAX_DEPTH:
            self._stop(event, _("nested deeper than {max_depth} levels; flatten it", max_depth=MAX_DEPTH))
            return None
        return self._list(way) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(way)

    def _list(self, way: Way) -> list[Any]:
        values: list[Any] = []
        for event in self._inside():
            values.append(self._value(event, (*way, len(values))))
        return values

    def _mapping(self, way: Way) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for event in self._inside():
            key = self._key(event, way)
            if key in mapping:
                self._report(event, _("duplicate key {key}: remove one of the two", key=shown(key)))
            for value in islice(self.events, 1):
                mapping.setdefault(key, self._value(value, (*way, key), event))
        return mapping

    def _key(self, event: Any, way: Way) -> str:
        if isinstance(event, yaml.CollectionStartEvent):
            self._stop(event, _("a list or mapping cannot be a key; use a plain word as the key, or quote it"))
            return ""
        self._refuse(event, way)
        return f"*{event.anchor}" if isinstance(event, yaml.AliasEvent) else str(event.value)

    def _refuse(self, event: Any, way: Way) -> None:
        """Report an alias, an anchor, a tag, and characters that cannot be shown."""
        anchor = event.anchor
        if isinstance(event, yaml.AliasEvent):
            self._report(
                event, _("alias *{anchor}: aliases are not supported; write the value out", anchor=anchor[:40])
            )
            return
        if anchor is not None:
            self._report(
                event,
                _(
                    "anchor &{anchor}: anchors are not supported; remove it and write the values out",
                    anchor=anchor[:40],
                ),
            )
        if event.tag is not None:
            self._report(event, _("tag {tag}: tags are not supported; remove it", tag=shown(event.tag, 40)))
            self.parsed.broken.add(way)
        if isinstance(event, yaml.ScalarEvent) and not _is_plain(event) and (found := _UNPRINTABLE.search(event.value)):
            self._report(
                event, _("character U+{found:04X} in this text cannot be shown; delete it", found=ord(found.group()))
            )
            self.parsed.broken.add(way)

    def _report(self, event: Any, message: Localised) -> None:
        self._add(event.start_mark, message)
        if len(self.parsed.problems) == MAX_PROBLEMS:
            self._stop(event, _("more than {max_problems} problems; correct these first", max_problems=MAX_PROBLEMS))

    def _stop(self, event: Any, message: Localised) -> None:
        self._end_with(event.start_mark, message)
        self.events.close()

    def _end_with(self, mark: Any, message: Localised) -> None:
        self._add(mark, message)
        self.parsed.whole = False

    def _add(self, mark: Any, message: Localised) -> None:
        place = self.parsed.place(mark.line, mark.column) if mark else (1, 1)
        self.parsed.problems.append(Problem(self.parsed.name, *place, message))


def _is_plain(event: Any) -> bool:
    return event.implicit[0] and not event.tag


def _malformed(error: yaml.MarkedYAMLError) -> Localised:
    reason = " ".join(part for part in (error.context, error.problem) if part)
    remedy = next((remedy for words, remedy in _REMEDIES if words in reason), _DEFAULT_REMEDY)
    return _("malformed YAML: {reason}; {remedy}", reason=error.problem or error.context, remedy=remedy)


def _mark(error: yaml.MarkedYAMLError) -> Any:
    """Return the opening quote or bracket if its end is missing on a later line, else the place of the error."""
    opening, fault = error.context_mark, error.problem_mark
    if opening is None or fault is None:
        return fault or opening
    unclosed = any(word in (error.context or "") for word in ("quoted scalar", "flow"))
    return opening if unclosed and opening.line != fault.line else fault


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
