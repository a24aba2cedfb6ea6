"""Reviews and attempts from the future, told by `attn doctor`: a clock was wrong, this one or another."""

from __future__ import annotations

from attncli.domain.log_row import LogRow, RowKind
from attncli.memory.replay import in_force, standing
from attncli.practice.log.timestamps import TOLERATED_LEAD
from attncli.practice.workspace import Workspace

SHOWN_AHEAD = 5


def rows_ahead(workspace: Workspace) -> list[LogRow]:
    """The reviews and attempts in force that are stamped more than a day ahead of the clock, the latest first."""
    found: list[LogRow] = []
    log, index = workspace.store.log, workspace.store.index
    late = workspace.clock() + TOLERATED_LEAD
    for kind in (RowKind.REVIEW, RowKind.ATTEMPT):
        for subject in log.subjects_after(kind, late):
            rows = standing(log.of_subjects(index.names_of(index.renamed_to(subject) or subject)))
            in_line = in_force(row for row in rows if row.kind is kind)
            found += [row for row in in_line if row.at > late and row.subject == subject]
    return sorted(found, key=lambda row: (row.at, row.id), reverse=True)


def ahead_in_words(workspace: Workspace) -> list[str]:
    """What `attn doctor` says of the rows from the future, and what to do about them."""
    found = rows_ahead(workspace)
    lines = [
        f"the {row.kind} of {row.subject} is stamped {row.at:%Y-%m-%d %H:%M}Z, more than a day ahead of this clock"
        for row in found[:SHOWN_AHEAD]
    ]
    if len(found) > SHOWN_AHEAD:
        lines.append(f"more of them: {len(found) - SHOWN_AHEAD}")
    if found:
        lines.append(
            "if this clock is right, answer those again (what came from the future is then set aside) or take the last "
            "one back with `attn undo`; if it is wrong, set it"
        )
    return lines
