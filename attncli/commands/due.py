"""Prints what is due. Shell prompts call `attn due`, so `__main__` calls this without the option parser."""

from __future__ import annotations

from datetime import datetime

from attncli.commands.session import Session, echo, print_json
from attncli.practice.queue import due_counts, minutes_of
from attncli.words.command_texts import DUE_NOW, TOO_MANY_FOR_TODAY


def print_due(session: Session, at: datetime | None, as_json: bool) -> None:
    """Print the counts of what is due at `at` (default: now)."""
    with session.workspace(at) as workspace:
        counts = due_counts(workspace, at)
        minutes, lang = minutes_of(workspace.settings, workspace.moment(at).day), workspace.lang
    if as_json:
        print_json(counts.document())
    else:
        topics = (f"  {topic:<12} {count:>4}" for topic, count in counts.topics.items())
        left_out = [TOO_MANY_FOR_TODAY[lang].format(counts=counts, minutes=minutes)] if counts.left_out else []
        echo("\n".join([DUE_NOW[lang].format(counts=counts), *topics, *left_out]))
