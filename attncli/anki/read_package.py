"""Reads a package in a child process, whose time and memory have a limit; it needs nothing that is not bounded anyway.

The child unpacks the package, reads its tables and converts the texts of the cards that are not here yet. It writes
one JSON document a line: each card, then `done`; or what it refuses.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from attncli.anki.markdown import markdown_of
from attncli.anki.package import EXPORT, AnkiReview, ForeignCard, own_card, read_package
from attncli.domain.card import is_identifier
from attncli.errors import AttnError, EnvironmentFailure, StoreError, UsageError

# What the two sides of an Anki card say: the template of its note type, filled with the fields of its note. HTML.

_TAG = re.compile(r"\{\{([^{}]{1,200})\}\}")
_CLOZE = re.compile(r"\{\{c([\d,]{1,100})::((?:(?!\{\{c[\d,]{1,100}::|\}\}).)*)\}\}", re.DOTALL)
_BLANK = re.compile(r"<[^<>]{0,2000}>|&nbsp;|\s")
_FROM_OUTSIDE = ("tts ", "tts-voices")
MOST_DEPTH = 8
LONGEST_TEMPLATE = 2**18
LONGEST_SIDE = 2**18
"""Characters: a side is cut there while it is put together."""
HIDDEN = "[…]"
OCCLUSION = "image-occlusion:"
HINT = "hint"


def sides(card: ForeignCard) -> tuple[str, str]:
    """The question and the answer, the answer without the question again.

    A hint is hidden in front. One that the back does not show either stands below the answer.
    """
    question = _Side(card, card.template.question, asked=True)
    answer = _Side(card, card.template.answer, asked=False)
    hints = [f"<p>{escape(name)}: {text}</p>" for name, text in question.hints.items() if name not in answer.used]
    return question.text, "".join([answer.text, *hints])[:LONGEST_SIDE]


class _Side:
    """A template with its sections kept or dropped and its fields put in; an unknown field says nothing."""

    def __init__(self, card: ForeignCard, template: str, asked: bool) -> None:
        self._fields: Mapping[str, str] = card.fields
        self._number = card.ord + 1 if card.template.is_cloze else 0
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
            told = between if shown[-1] else ""
            if sign == "/":
                shown = shown[:-1] if len(shown) > 1 else shown
            elif sign:
                shown.append(shown[-1] and self._is_filled(name) == (sign == "#"))
            elif shown[-1]:
                told += self._field(name)
            parts.append(told)
            size += len(told)
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
        if field not in self._fields or any(one.startswith(_FROM_OUTSIDE) for one in filters):
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
    """Text with its gaps: where it is asked, the gap `number` shows its hint alone; innermost gaps come first."""

    def gap(found: re.Match[str]) -> str:
        inside, _, hint = found[2].partition("::")
        if inside.startswith(OCCLUSION):
            return ""
        if str(number) not in found[1].split(","):
            return inside
        if asked:
            return f"[{hint}]" if hint.strip() else HIDDEN
        return f"<b>{inside}</b>"

    for _ in range(MOST_DEPTH):
        text, count = _CLOZE.subn(gap, text)
        if not count:
            break
    return text


KEY_LENGTH = 12
MEMORY_BYTES = 2 * 2**30
SECONDS, SECONDS_A_MEBIBYTE = 60, 20
"""Of the processor: so many for any package, and so many more for each MiB of its file."""
MOST_TEXT = 64 * 2**20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Answer(NamedTuple):
    """An answer in Anki: when (Unix time in milliseconds), with which rating, and how long it took."""

    at_ms: int
    rating: int
    elapsed_ms: int

    @property
    def at(self) -> datetime:
        """The moment in UTC."""
        return _EPOCH + timedelta(milliseconds=self.at_ms)


@dataclass(frozen=True, slots=True)
class ReadCard:
    """A card of a package. `key` names it for ever, on every machine; its texts are empty where it is here already.

    `forgotten` are answers from before a reset; `left_out` counts the pictures and sounds of its texts.
    """

    guid: str
    key: str
    deck: str
    suspended: bool
    changed_at: datetime
    answers: tuple[Answer, ...]
    forgotten: tuple[Answer, ...]
    question: str = ""
    answer: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class ReadPackage:
    """What a package holds; `lost_reviews` are answers of cards that are not in it, or with no rating."""

    cards: tuple[ReadCard, ...]
    lost_reviews: int


def key_of(guid: str, ord: int) -> str:
    """Names a card of a note for ever, on every machine."""
    return sha256(f"{guid}\x1f{ord}".encode()).hexdigest()[:KEY_LENGTH]


def own_id(guid: str) -> str:
    """The card of ours whose note this is, by an id that it has or had; empty for any other note."""
    id = own_card(guid)
    return id if is_identifier(id) else ""


def read_in_child(package: Path, folder: Path, known: Collection[str]) -> ReadPackage:
    """The cards of `package`, which is unpacked into `folder`, a private one; the texts of `known` keys are left out.

    Raises UsageError, in one line, for whatever is no sound package; StoreError, EnvironmentFailure without room.
    """
    command = [sys.executable, "-P", "-m", __name__, str(package.absolute()), str(folder.absolute())]
    request = json.dumps({"name": str(package), "known": sorted(known)}).encode()
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        raise EnvironmentFailure(
            f"cannot start what reads {package} ({sys.executable}: {error.strerror}); "
            "close other programs and try again"
        ) from error
    with child:
        try:
            return _received(child, request, package)
        finally:
            child.kill()


def _received(child: subprocess.Popen[bytes], request: bytes, package: Path) -> ReadPackage:
    cards = list[ReadCard]()
    assert child.stdin is not None and child.stdout is not None
    with suppress(OSError):
        child.stdin.write(request)
        child.stdin.close()
    for line in child.stdout:
        told = json.loads(line)
        if "refused" in told:
            raise _ERRORS.get(told["kind"], UsageError)(told["refused"])
        if "done" in told:
            return ReadPackage(tuple(cards), told["done"])
        cards.append(_card_of(told))
    raise UsageError(f"{package} takes more time or memory than any collection does; {EXPORT}")


_ERRORS: dict[str, type[AttnError]] = {kind.__name__: kind for kind in (UsageError, StoreError, EnvironmentFailure)}


def _card_of(told: dict[str, Any]) -> ReadCard:
    moments = {
        "changed_at": datetime.fromisoformat(told["changed_at"]),
        "answers": tuple(Answer(*answer) for answer in told["answers"]),
        "forgotten": tuple(Answer(*answer) for answer in told["forgotten"]),
    }
    return ReadCard(**{**told, **moments})


def _main(package: Path, folder: Path) -> None:
    """The child."""
    _limit(SECONDS + SECONDS_A_MEBIBYTE * (package.stat().st_size if package.is_file() else 0) // 2**20)
    request = json.load(sys.stdin)
    name, known = Path(request["name"]), frozenset(request["known"])
    try:
        for document in _documents(package, name, folder, known):
            _tell(document)
    except AttnError as error:
        kind = next((name for name, kind in _ERRORS.items() if isinstance(error, kind)), "")
        _tell({"refused": error.message.replace(str(package), str(name)), "kind": kind})


def _tell(document: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(document, default=datetime.isoformat) + "\n")


def _documents(package: Path, name: Path, folder: Path, known: Collection[str]) -> Iterator[dict[str, Any]]:
    collection, size = read_package(package, folder), 0
    for card in collection.cards:
        read = _read(card, known)
        size += len(read.question) + len(read.answer)
        if size > MOST_TEXT:
            raise UsageError(f"{name} has more than {MOST_TEXT // 2**20} MiB of text; export one deck at a time")
        yield asdict(read)
    yield {"done": collection.lost_reviews}


def _read(card: ForeignCard, known: Collection[str]) -> ReadCard:
    key = key_of(card.guid, card.ord)
    answers, forgotten = _answers(card.reviews), _answers(card.forgotten)
    read = ReadCard(card.guid, key, card.deck, card.suspended, card.changed_at, answers, forgotten)
    if key in known or own_id(card.guid):
        return read
    asked, told = sides(card)
    question, answer = markdown_of(asked, asked=True), markdown_of(told)
    left_out = question.left_out + answer.left_out
    return replace(read, question=str(question), answer=str(answer), left_out=left_out)


def _answers(reviews: tuple[AnkiReview, ...]) -> tuple[Answer, ...]:
    return tuple(Answer(round((review.at - _EPOCH) / _MS), review.rating, review.elapsed_ms) for review in reviews)


_MS = timedelta(milliseconds=1)


def _limit(seconds: int) -> None:
    """Limits the time and the memory of this process, where the system can."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]))
