"""A card that was begun and not kept yet: there again when the next one is begun, however the app ended."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from attncli.errors import UsageError, remedy_for
from attncli.files import put_text


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
