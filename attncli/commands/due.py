"""Prints what is due. Shell prompts call `attn due`, so `__main__` calls this without the option parser."""

from __future__ import annotations

from datetime import datetime

from attncli.commands.session import Session, echo, print_json
from attncli.i18n import _
from attncli.practice.queue import due_counts, minutes_of


def print_due(session: Session, at: datetime | None, as_json: bool) -> None:
    """Print the counts of what is due at `at` (default: now)."""
    with session.workspace(at) as workspace:
        counts = due_counts(workspace, at)
        minutes, lang = minutes_of(workspace.settings, workspace.moment(at).day), workspace.lang
    if as_json:
        print_json(counts.document())
    else:
        topics = (f"  {topic:<12} {count:>4}" for topic, count in counts.topics.items())
        left_out = (
            [
                _(
                    "{counts.left_out} more to review than fit today (minutes: {minutes:g}); they stay due, and what "
                    "fades fastest "
                    "comes first",
                    counts=counts,
                    minutes=minutes,
                )[lang]
            ]
            if counts.left_out
            else []
        )
        echo(
            "\n".join(
                [
                    _(
                        "{counts.due} due: {counts.new} new, {counts.learning} learning, {counts.review} to review; "
                        "challenges: {counts.challenges}",
                        counts=counts,
                    )[lang],
                    *topics,
                    *left_out,
                ]
            )
        )
