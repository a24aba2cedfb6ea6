"""Reads a package in a child process, whose time and memory have a limit; it needs nothing that is not bounded anyway.

The child unpacks the package, reads its tables and converts the texts of the cards that are not here yet. It writes
one JSON document a line: each card, then `done`; or what it refuses.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from attncli.anki.markdown import markdown_of
from attncli.anki.package import read_package
from attncli.domain.anki import AnkiReview, ForeignCard, own_card
from attncli.domain.identifiers import is_identifier
from attncli.errors import AttnError, EnvironmentFailure, StoreError, UsageError
from attncli.practice.anki.anki_templates import sides
from attncli.store.anki_archive import EXPORT

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
