"""Tags, a flag and a note on a card: rows of the log like everything else, so that they sync and can be undone."""

from __future__ import annotations

import re
from collections import defaultdict
from unicodedata import normalize

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.log_row_payloads import LONGEST_NOTE, kept_text
from attncli.errors import Unfit
from attncli.memory.annotations import ANNOTATIONS, FLAG, Annotation, fold_annotation
from attncli.practice.log.log_transaction import record
from attncli.practice.workspace import Workspace

LONGEST_TAG = 40
_TAG = re.compile(r"\w[\w-]*\Z")


def annotation(workspace: Workspace, card: str) -> Annotation:
    """The tags and the note of `card`, under all the names that it had."""
    return fold_annotation(workspace.store.log.of_subjects(workspace.store.index.names_of(card)))


def annotated_cards(workspace: Workspace) -> dict[str, Annotation]:
    """Every card that has a tag or a note."""
    log, renamed = workspace.store.log, workspace.store.index.renames()
    rows = defaultdict[str, list[LogRow]](list)
    for kind in sorted(ANNOTATIONS):
        for row in log.of_kind(kind):
            rows[renamed.get(row.subject, row.subject)].append(row)
    if rows:
        for row in log.of_kind(RowKind.UNDO):
            if (id := renamed.get(row.subject, row.subject)) in rows:
                rows[id].append(row)
    found = {id: fold_annotation(about) for id, about in rows.items()}
    return {id: said for id, said in found.items() if said != Annotation()}


def toggle_tag(workspace: Workspace, card: str, tag: str) -> bool:
    """Puts `tag` on the card, or takes it off; whether it is on now. Raises Unfit for what is no tag."""
    tag = normalize("NFC", tag.strip().lstrip("#").lower())
    if not _TAG.match(tag) or len(tag) > LONGEST_TAG:
        said = f"“{tag[:LONGEST_TAG]}” is no tag; use letters, digits and hyphens, at most {LONGEST_TAG}"
        raise Unfit(said, "tag")
    card = workspace.library.card_id(card)
    on = tag not in annotation(workspace, card).tags
    record(workspace, RowKind.TAG, card, {"tag": tag, "on": on})
    return on


def toggle_flag(workspace: Workspace, card: str) -> bool:
    """Flags the card, or no longer; whether it is flagged now."""
    return toggle_tag(workspace, card, FLAG)


def set_note(workspace: Workspace, card: str, text: str) -> None:
    """Replaces the note; an empty one takes it away. Nothing is recorded where it says that already.

    Raises Unfit for a note that is too long to keep.
    """
    text = kept_text(text.strip(), LONGEST_NOTE + 1)
    if len(text) > LONGEST_NOTE:
        raise Unfit(f"the note has more than {LONGEST_NOTE} characters; shorten it", "note")
    card = workspace.library.card_id(card)
    if text != annotation(workspace, card).note:
        record(workspace, RowKind.NOTE, card, {"text": text})
