"""What `attn due` prints. Loads little: see `attncli.__main__`."""

from __future__ import annotations

from datetime import datetime

from attncli.commands.session import Session
from attncli.commands.stdout import echo
from attncli.domain.text import Lang
from attncli.practice.due import DueCounts, due_counts
from attncli.words.command_texts import DUE_NOW


def report(session: Session, at: datetime | None, as_json: bool) -> None:
    """Prints what is due at `at` (now)."""
    with session.workspace() as workspace:
        counts = due_counts(workspace, at)
    if as_json:
        from attncli.commands.json_document import print_json

        print_json(counts.document())
    else:
        echo("\n".join(_lines(counts, workspace.lang)))


def _lines(counts: DueCounts, lang: Lang) -> list[str]:
    topics = (f"  {topic:<12} {count:>4}" for topic, count in counts.topics.items())
    return [DUE_NOW[lang].format(counts=counts), *topics]
