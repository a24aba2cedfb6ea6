"""A new card in one of the learner's own banks, ready to be filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from attncli.bank.loader import NOT_CARDS, BankFile, completed, load_file, topic_findings
from attncli.bank.problems import shown_path
from attncli.bank.yaml_reader import parse
from attncli.domain.card import is_identifier
from attncli.domain.text import Lang
from attncli.errors import Unfit, UsageError, remedy_for
from attncli.paths import put_text
from attncli.words.command_texts import NEW_ANSWER, NEW_QUESTION

if TYPE_CHECKING:
    from attncli.practice.workspace import Workspace


LONGEST_TOPIC = 40
_CARD = re.compile(r"^( *)- +id:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card that was written; `line` is where it begins in its file."""

    id: str
    path: Path
    line: int


def add_card(workspace: Workspace, topic: str, question: str = "", answer: str = "") -> NewCard:
    """Adds a card of `topic` to the file of that name in the learner's own banks, in the learner's language.

    Without a question or an answer there is a place for it. Raises UsageError for a name that no topic can have, and
    for a file that has a problem or cannot be added to.
    """
    topic = normalize("NFC", topic.strip().lower())
    if not is_identifier(topic, LONGEST_TOPIC):
        said = f"“{topic[:40]}” is no topic; use lower-case letters, digits and single hyphens, such as mine"
        raise Unfit(said, "topic")
    path = _file_of(workspace.home.banks, topic)
    if path.name in NOT_CARDS:
        raise UsageError(f"“{topic}” cannot be a topic, since {path.name} is no file of cards; choose another name")
    there = load_file(path, own=True) if path.exists() else BankFile(path, topic)
    if there.problems:
        raise UsageError(f"{there.problems[0]}; correct it first, then add a card")
    before = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else f"topic: {topic}\ncards:"
    id = _free_id(_stem(workspace, topic), {*_taken(workspace), *(document["id"] for document in there.documents)})
    indent = (_CARD.findall(before) or ["  "])[-1]
    added = [f"{indent}{line}" for line in _lines(id, question, answer, workspace.lang)]
    space = [""] if there.documents else []
    _write(path, "\n".join([before, *space, *added, ""]), len(there.documents) + 1)
    return NewCard(id, path, before.count("\n") + len(space) + 2)


def _file_of(banks: Path, topic: str) -> Path:
    other = banks / f"{topic}.yml"
    return other if other.exists() else banks / f"{topic}.yaml"


def _stem(workspace: Workspace, topic: str) -> str:
    """What ids begin with: beside bundled cards of a topic the learner's are called `kv-own-01`."""
    index, own = workspace.store.index, workspace.home.banks
    cards = index.list_cards(topic)
    is_bundled = any(not Path(index.owner(card.id)).is_relative_to(own) for card in cards)
    return f"{topic}-own" if is_bundled else topic


def _taken(workspace: Workspace) -> Collection[str]:
    index = workspace.store.index
    return {*index.card_ids(), *index.challenge_ids(), *index.renames()}


def _free_id(stem: str, taken: Collection[str]) -> str:
    return next(id for number in range(1, len(taken) + 2) if (id := f"{stem}-{number:02d}") not in taken)


def _lines(id: str, question: str, answer: str, lang: Lang) -> list[str]:
    said = {"question": question.strip() or NEW_QUESTION[lang], "short": answer.strip() or NEW_ANSWER[lang]}
    return [
        f"- id: {id}",
        *(f"  {key}: {{{lang}: {json.dumps(text, ensure_ascii=False)}}}" for key, text in said.items()),
    ]


def _write(path: Path, text: str, cards: int) -> None:
    """Puts the file in place if it reads as it should."""
    parsed = parse(shown_path(path), text)
    whole, _ = completed(parsed.value)
    if parsed.problems or topic_findings(whole, own=True) or len(whole["cards"]) != cards:
        raise UsageError(f"{shown_path(path)} does not end in a list of cards to add to; add the card by hand")
    put_text(path, text, "choose another folder with --home")


# A card that was begun and not kept yet: there again when the next one is begun, however the app ended.


@dataclass(frozen=True, slots=True)
class CardDraft:
    """What stands in the fields."""

    topic: str
    question: str = ""
    answer: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.question.strip() or self.answer.strip())


def read_draft(path: Path, otherwise: CardDraft) -> CardDraft:
    """The draft that was kept, or `otherwise` if there is none. Raises UsageError for a file that holds none."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return otherwise
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}); it holds a card that you began") from error
    except ValueError as error:
        raise _no_draft(path) from error
    fields = ("topic", "question", "answer")
    if not isinstance(told, dict) or not all(isinstance(told.get(name), str) for name in fields):
        raise _no_draft(path)
    return CardDraft(*(told[name] for name in fields))


def keep_draft(path: Path, draft: CardDraft) -> None:
    """Keeps it until it is dropped. Raises EnvironmentFailure or UsageError where it cannot be written."""
    put_text(path, json.dumps(asdict(draft), ensure_ascii=False) + "\n", "make the folder writable")


def drop_draft(path: Path) -> None:
    """Forgets it, if there is one. Raises UsageError where it cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        remedy = remedy_for(error, "make the folder writable")
        raise UsageError(f"cannot remove {path} ({error.strerror}); {remedy}") from error


def _no_draft(path: Path) -> UsageError:
    return UsageError(f"{path} holds no card that was begun; move it away")
