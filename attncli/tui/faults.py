"""What went wrong while the app runs, as one line in the learner's language."""

from __future__ import annotations

from attncli.domain.text import Lang
from attncli.errors import (
    AttnError,
    ClockWrong,
    Outdated,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReplaced,
    StoreUnwritable,
)
from attncli.words.app_texts import say

# How long one try may keep the screen waiting for another process, how soon the next one follows, and how many.
BUSY_MILLISECONDS = 200
RETRY_SECONDS = 0.6
RETRIES = 25


def fault_text(error: AttnError, lang: Lang) -> str:
    """The line that tells what was not stored, and what to do."""
    if isinstance(error, Outdated):
        return say(f"outdated.{error.reason}", lang)
    return say(_key(error), lang, message=error.message)


def _key(error: AttnError) -> str:
    match error:
        case StoreBusy():
            return "fault.still-busy"
        case StoreFull():
            return "fault.full"
        case StoreUnwritable():
            return "fault.unwritable"
        case StoreReplaced():
            return "fault.replaced"
        case ClockWrong():
            return "fault.clock"
        case StoreCorrupt():
            return "fault.damaged"
        case StoreError():
            return "fault.store"
    return "fault.other"
