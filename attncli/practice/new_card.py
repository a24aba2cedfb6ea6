"""Add a card to one of the learner's own banks, and keep the draft of a card that is being written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from unicodedata import normalize

from attncli.bank.loader import NOT_CARDS, BankFile, completed, load_file, topic_findings
from attncli.bank.problems import shown_path
from attncli.bank.yaml_reader import parse
from attncli.domain.card import is_identifier
from attncli.domain.text import Lang
from attncli.errors import Unfit, UsageError, remedy_for
from attncli.paths import put_text
from attncli.practice.workspace import Workspace
from attncli.words.command_texts import NEW_ANSWER, NEW_QUESTION

LONGEST_TOPIC = 40
_CARD = re.compile(r"^( *)- +id:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card that was written; `line` is where it begins in its file."""

    id: str
    path: Path
    line: int


def add_card(workspace: Workspace, topic: str, question: str = "", answer: str = "") -> NewCard:
    """Add a card of `topic` to the file of that name in the learner's own banks, in the learner's language.

    A missing question or answer gets a placeholder. Raises UsageError for an invalid topic name, and for a file that
    has a fault or cannot be added to.
    """
    topic = normalize("NFC", topic.strip().lower())
    if not is_identifier(topic, LONGEST_TOPIC):
        message = f"“{topic[:40]}” is no topic; use lower-case letters, digits and single hyphens, such as mine"
        raise Unfit(message, "topic")
    path = workspace.home.banks / f"{topic}.yml"
    if not path.exists():
        path = workspace.home.banks / f"{topic}.yaml"
    if path.name in NOT_CARDS:
        raise UsageError(f"“{topic}” cannot be a topic, since {path.name} is no file of cards; choose another name")
    bank = load_file(path, own=True) if path.exists() else BankFile(path, topic)
    if bank.problems:
        raise UsageError(f"{bank.problems[0]}; correct it first, then add a card")
    before = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else f"topic: {topic}\ncards:"
    index = workspace.store.index
    taken = {*index.card_ids(), *index.challenge_ids(), *index.renames()}
    id = _free_id(_stem(workspace, topic), {*taken, *(document["id"] for document in bank.documents)})
    indent = (_CARD.findall(before) or ["  "])[-1]
    added = [f"{indent}{line}" for line in _lines(id, question, answer, workspace.lang)]
    space = [""] if bank.documents else []
    _write(path, "\n".join([before, *space, *added, ""]), len(bank.documents) + 1)
    return NewCard(id, path, before.count("\n") + len(space) + 2)


def _stem(workspace: Workspace, topic: str) -> str:
    """Return the beginning of new ids: `kv-own` if the topic has bundled cards, else `kv`."""
    index, own = workspace.store.index, workspace.home.banks
    cards = index.list_cards(topic)
    is_bundled = any(not Path(index.owner(card.id)).is_relative_to(own) for card in cards)
    return f"{topic}-own" if is_bundled else topic


def _free_id(stem: str, taken: Collection[str]) -> str:
    return next(id for number in range(1, len(taken) + 2) if (id := f"{stem}-{number:02d}") not in taken)


def _lines(id: str, question: str, answer: str, lang: Lang) -> list[str]:
    texts = {"question": question.strip() or NEW_QUESTION[lang], "short": answer.strip() or NEW_ANSWER[lang]}
    return [
        f"- id: {id}",
        *(f"  {key}: {{{lang}: {json.dumps(text, ensure_ascii=False)}}}" for key, text in texts.items()),
    ]


def _write(path: Path, text: str, cards: int) -> None:
    """Write the file if it parses as a bank with so many cards."""
    parsed = parse(shown_path(path), text)
    whole, _ = completed(parsed.value)
    if parsed.problems or topic_findings(whole, own=True) or len(whole["cards"]) != cards:
        raise UsageError(f"{shown_path(path)} does not end in a list of cards to add to; add the card by hand")
    put_text(path, text, "choose another folder with --home")


# Drafts: what was typed is there again, however the app ended


@dataclass(frozen=True, slots=True)
class CardDraft:
    """The text in the fields of the form."""

    topic: str
    question: str = ""
    answer: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.question.strip() or self.answer.strip())


def read_draft(path: Path, default: CardDraft) -> CardDraft:
    """Return the saved draft, or `default` if there is none. Raises UsageError for a file without a draft."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return default
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}); it holds a card that you began") from error
    except ValueError as error:
        raise _no_draft(path) from error
    names = ("topic", "question", "answer")
    if not isinstance(fields, dict) or not all(isinstance(fields.get(name), str) for name in names):
        raise _no_draft(path)
    return CardDraft(*(fields[name] for name in names))


def keep_draft(path: Path, draft: CardDraft) -> None:
    """Save the draft. Raises EnvironmentFailure or UsageError if it cannot be written."""
    put_text(path, json.dumps(asdict(draft), ensure_ascii=False) + "\n", "make the folder writable")


def drop_draft(path: Path) -> None:
    """Delete the saved draft, if there is one. Raises UsageError if it cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        remedy = remedy_for(error, "make the folder writable")
        raise UsageError(f"cannot remove {path} ({error.strerror}); {remedy}") from error


def _no_draft(path: Path) -> UsageError:
    return UsageError(f"{path} holds no card that was begun; move it away")
