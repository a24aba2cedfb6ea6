"""What a learner wrote on a card, tags and a note, as a fold over log rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from attncli.domain.log_row import LogRow, RowKind
from attncli.memory.replay import in_force, standing

FLAG = "flag"
ANNOTATIONS = frozenset({RowKind.TAG, RowKind.NOTE})


@dataclass(frozen=True, slots=True)
class Annotation:
    """Tags in the order in which they were put on; an empty note is none."""

    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def flagged(self) -> bool:
        return FLAG in self.tags


def fold_annotation(rows: Iterable[LogRow]) -> Annotation:
    """The annotation of the one card whose log `rows` is: the last word on each tag, and the last note.

    A row that does not say what its kind says counts as absent.
    """
    tags, note = dict[str, None](), ""
    for row in in_force(row for row in standing(rows) if row.kind in ANNOTATIONS):
        told = row.payload if isinstance(row.payload, dict) else {}
        tag, text = told.get("tag"), told.get("text")
        if row.kind is RowKind.NOTE and isinstance(text, str):
            note = text
        elif row.kind is RowKind.TAG and isinstance(tag, str) and tag:
            tags.pop(tag, None)
            if told.get("on") is not False:
                tags[tag] = None
    return Annotation(tuple(tags), note)
