"""What went wrong while the app runs, as one line in the learner's language."""

from __future__ import annotations

from attncli.domain.text import Lang
from attncli.errors import (
    AttnError,
    ClockWrong,
    ConfigInvalid,
    ExperimentFailed,
    JudgeFailed,
    NothingFits,
    NoTorch,
    Outdated,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRemoved,
    StoreReplaced,
    StoreUnwritable,
    Unfit,
)
from attncli.words.app_texts import say
from attncli.words.in_chinese import told_in

# How long one try may keep the screen waiting for another process, how soon the next one follows, and how many.
BUSY_MILLISECONDS = 200
RETRY_SECONDS = 0.6
RETRIES = 25


_KEYS: dict[type[AttnError], str] = {
    StoreBusy: "fault.still-busy",
    StoreFull: "fault.full",
    StoreUnwritable: "fault.unwritable",
    StoreReplaced: "fault.replaced",
    StoreRemoved: "fault.removed",
    ClockWrong: "fault.clock",
    StoreCorrupt: "fault.damaged",
    StoreError: "fault.store",
    NothingFits: "fault.nothing-fits",
    NoTorch: "fault.no-torch",
    JudgeFailed: "fault.judge",
    ExperimentFailed: "fault.experiment",
    ConfigInvalid: "fault.config",
}


def fault_text(error: AttnError, lang: Lang) -> str:
    """The line that tells what was not stored, and what to do."""
    if isinstance(error, Outdated):
        return say(f"outdated.{error.reason}", lang)
    if isinstance(error, Unfit):
        return say(f"unfit.{error.reason}", lang, **error.parts)
    key = next((key for kind, key in _KEYS.items() if isinstance(error, kind)), "fault.other")
    return say(key, lang, message=told_in(lang, error.message))
