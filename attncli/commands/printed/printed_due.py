"""What `attn due` prints. Loads little: see `attncli.__main__`."""

from __future__ import annotations

from datetime import datetime

from attncli.commands.session import Session
from attncli.commands.shared.stdout import echo
from attncli.domain.text import Lang
from attncli.practice.queue import DueCounts, due_counts, minutes_of
from attncli.words.command_texts import DUE_NOW, TOO_MANY_FOR_TODAY


def report(session: Session, at: datetime | None, as_json: bool) -> None:
    """Prints what is due at `at` (now)."""
    with session.workspace() as workspace:
        counts = due_counts(workspace, at)
        minutes = minutes_of(workspace.settings, workspace.moment(at).day)
    if as_json:
        from attncli.commands.shared.json_document import print_json

        print_json(counts.document())
    else:
        echo("\n".join(_lines(counts, minutes, workspace.lang)))


def _lines(counts: DueCounts, minutes: float, lang: Lang) -> list[str]:
    topics = (f"  {topic:<12} {count:>4}" for topic, count in counts.topics.items())
    left_out = [TOO_MANY_FOR_TODAY[lang].format(counts=counts, minutes=minutes)] if counts.left_out else []
    return [DUE_NOW[lang].format(counts=counts), *topics, *left_out]
