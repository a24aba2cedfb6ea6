"""Read a package in a child process with limits on time and memory.

The child (`python -m attncli.anki.read_package`) unpacks the package, reads its tables and converts the texts of cards
that are not here yet. It writes JSON lines: one for each card, then `done`, or else `refused`. It imports little.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from attncli.anki.markdown import markdown_of
from attncli.anki.package import EXPORT, AnkiCard, Answer, Note, own_id, read_package
from attncli.errors import AttnError, EnvironmentFailure, StoreError, UsageError, reason_of
from attncli.i18n import LANGS, Localised, _

MEMORY_BYTES = 2 * 2**30
SECONDS, SECONDS_A_MEBIBYTE = 60, 20
"""Limits of processor time: for any package, and in addition for each MiB of its file."""
MOST_TEXT = 64 * 2**20


_ERRORS: dict[str, type[AttnError]] = {kind.__name__: kind for kind in (UsageError, StoreError, EnvironmentFailure)}


def read_in_child(package: Path, folder: Path, known: Collection[str]) -> tuple[list[AnkiCard], int]:
    """Return the cards of `package`, without the texts of `known` keys, and the number of answers without a card.

    The package is unpacked into `folder`, a private one.

    Raises UsageError for a package that cannot be read; StoreError, EnvironmentFailure without space.
    """
    command = [sys.executable, "-P", "-m", __name__, str(package.absolute()), str(folder.absolute())]
    request = json.dumps({"name": str(package), "known": sorted(known)}).encode()
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        raise EnvironmentFailure(
            _(
                "cannot start the reader of {package} ({executable}: {strerror}); close other programs and try again",
                package=package,
                executable=sys.executable,
                strerror=reason_of(error),
            )
        ) from error
    with child:
        try:
            return _received(child, request, package)
        finally:
            child.kill()


def _received(child: subprocess.Popen[bytes], request: bytes, package: Path) -> tuple[list[AnkiCard], int]:
    cards = list[AnkiCard]()
    assert child.stdin is not None and child.stdout is not None
    with suppress(OSError):
        child.stdin.write(request)
        child.stdin.close()
    for line in child.stdout:
        message = json.loads(line)
        if "refused" in message:
            raise _ERRORS.get(message["kind"], UsageError)(Localised.of(message["refused"]))
        if "done" in message:
            return cards, message["done"]
        moments = {
            "changed_at": datetime.fromisoformat(message["changed_at"]),
            "answers": tuple(Answer(*answer) for answer in message["answers"]),
            "forgotten": tuple(Answer(*answer) for answer in message["forgotten"]),
        }
        cards.append(AnkiCard(**{**message, **moments}))
    raise UsageError(_("{package} takes too much time or memory to read; {export}", package=package, export=EXPORT))


# The child


def _main(package: Path, folder: Path) -> None:
    """Run the child: read the request from stdin and write the messages to stdout."""
    _limit(SECONDS + SECONDS_A_MEBIBYTE * (package.stat().st_size if package.is_file() else 0) // 2**20)
    request = json.load(sys.stdin)
    name, known = Path(request["name"]), frozenset(request["known"])
    try:
        for document in _documents(package, name, folder, known):
            _send(document)
    except AttnError as error:
        kind = next((name for name, kind in _ERRORS.items() if isinstance(error, kind)), "")
        refused = {lang: error.message[lang].replace(str(package), str(name)) for lang in LANGS}
        _send({"refused": refused, "kind": kind})


def _send(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document, default=datetime.isoformat) + "\n")


def _limit(seconds: int) -> None:
    """Limit the processor time and memory of this process, if the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _documents(package: Path, name: Path, folder: Path, known: Collection[str]) -> Iterator[dict[str, Any]]:
    cards, lost_reviews = read_package(package, folder)
    size = 0
    for card, note in cards:
        if card.key not in known and not own_id(card.guid):
            question, answer = sides(note)
            (asked, lost), (answered, also_lost) = markdown_of(question, asked=True), markdown_of(answer)
            card = replace(card, question=asked, answer=answered, left_out=lost + also_lost)
        size += len(card.question) + len(card.answer)
        if size > MOST_TEXT:
            raise UsageError(
                _(
                    "{name} has more than {most_text} MiB of text; export one deck at a time",
                    name=name,
                    most_text=MOST_TEXT // 2**20,
                )
            )
        yield asdict(card)
    yield {"done": lost_reviews}


# Templates

_TAG = re.compile(r"\{\{([^{}]{1,200})\}\}")
_CLOZE = re.compile(r"\{\{c([\d,]{1,100})::((?:(?!\{\{c[\d,]{1,100}::|\}\}).)*)\}\}", re.DOTALL)
_BLANK = re.compile(r"<[^<>]{0,2000}>|&nbsp;|\s")
_FROM_OUTSIDE = ("tts ", "tts-voices")
MOST_DEPTH = 8
LONGEST_TEMPLATE = 2**18
LONGEST_SIDE = 2**18
"""Characters; a side is cut there while it is filled."""
HIDDEN = "[…]"
OCCLUSION = "image-occlusion:"
HINT = "hint"


def sides(note: Note) -> tuple[str, str]:
    """Return question and answer as HTML: the templates of the note type, filled with the fields of the note.

    Hints are hidden in the question; one that the answer does not show either is added below it.
    """
    question = _Side(note, note.question, asked=True)
    answer = _Side(note, note.answer, asked=False)
    hints = [f"<p>{escape(name)}: {text}</p>" for name, text in question.hints.items() if name not in answer.used]
    return question.text, "".join([answer.text, *hints])[:LONGEST_SIDE]


class _Side:
    """A template with its sections kept or dropped and its fields filled in; unknown fields are empty."""

    def __init__(self, note: Note, template: str, asked: bool) -> None:
        self._fields: Mapping[str, str] = note.fields
        self._number = note.gap
        self._asked = asked
        self._filled: dict[str, bool] = {}
        self.used: set[str] = set()
        self.hints: dict[str, str] = {}
        self.text = self._joined(template[:LONGEST_TEMPLATE])

    def _joined(self, template: str) -> str:
        parts, size, at, shown = list[str](), 0, 0, [True]
        for found in _TAG.finditer(template):
            between, at = template[at : found.start()], found.end()
            name = found[1].strip()
            sign = name[0] if name[:1] in ("#", "^", "/") else ""
            name = name.removeprefix(sign).strip()
            text = between if shown[-1] else ""
            if sign == "/":
                shown = shown[:-1] if len(shown) > 1 else shown
            elif sign:
                shown.append(shown[-1] and self._is_filled(name) == (sign == "#"))
            elif shown[-1]:
                text += self._field(name)
            parts.append(text)
            size += len(text)
            if size > LONGEST_SIDE:
                break
        return "".join([*parts, template[at:] if shown[-1] else ""])[:LONGEST_SIDE]

    def _is_filled(self, name: str) -> bool:
        if self._number and name == f"c{self._number}":
            return True
        if name not in self._filled:
            self._filled[name] = bool(_BLANK.sub("", self._fields.get(name, "")[:LONGEST_SIDE]))
        return self._filled[name]

    def _field(self, name: str) -> str:
        *filters, field = [part.strip() for part in name.split(":")]
        if field not in self._fields or any(each.startswith(_FROM_OUTSIDE) for each in filters):
            return ""
        if "type" in filters and self._asked:
            return ""
        text = self._fields[field][:LONGEST_SIDE]
        if HINT in filters and self._asked:
            if self._is_filled(field):
                self.hints[field] = text
            return ""
        self.used.add(field)
        return gaps(text, self._number, self._asked) if self._number and "cloze" in filters else text


def gaps(text: str, number: int, asked: bool) -> str:
    """Return text with its gaps resolved, innermost first; in a question the gap `number` shows only its hint."""

    def gap(found: re.Match[str]) -> str:
        inside, _, hint = found[2].partition("::")
        if inside.startswith(OCCLUSION):
            return ""
        if str(number) not in found[1].split(","):
            return inside
        if asked:
            return f"[{hint}]" if hint.strip() else HIDDEN
        return f"<b>{inside}</b>"

    for _round in range(MOST_DEPTH):
        text, count = _CLOZE.subn(gap, text)
        if not count:
            break
    return text


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]))
