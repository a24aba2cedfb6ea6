"""Print the counts of due cards. Shell prompts call `attn due`, so `__main__` calls this without the option parser."""

from __future__ import annotations

from datetime import datetime

from attncli.commands.session import Session, echo, print_json
from attncli.i18n import _, ngettext
from attncli.practice.queue import minutes_of
from attncli.practice.today import due_counts


def print_due(session: Session, at: datetime | None, as_json: bool) -> None:
    """Print the counts of the cards due at `at` (default: now)."""
    with session.workspace(at) as workspace:
        counts = due_counts(workspace, at)
        minutes, lang = minutes_of(workspace.settings, workspace.moment(at).day), workspace.lang
    if as_json:
        print_json(counts.document())
        return
    summary = _(
        "{due} due: {new} new, {learning} learning, {review} to review; challenges: {challenges}",
        due=counts.due,
        new=counts.new,
        learning=counts.learning,
        review=counts.review,
        challenges=counts.challenges,
    )
    lines = [summary[lang], *(f"  {topic:<12} {count:>4}" for topic, count in counts.topics.items())]
    if counts.left_out:
        postponed = ngettext(
            "{count} more review won't fit into {minutes:g} min today; it stays due, soonest forgotten first",
            "{count} more reviews won't fit into {minutes:g} min today; they stay due, soonest forgotten first",
            counts.left_out,
            minutes=minutes,
        )
        lines.append(postponed[lang])
    echo("\n".join(lines))
