"""Read an unfinished card back unchanged, and report a file without one."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncli.errors import UsageError
from attncli.practice.authoring import CardDraft, drop_draft, keep_draft, read_draft

NONE = CardDraft("mine")
TYPED = st.text(st.characters(exclude_categories=["Cs"]))


@settings(max_examples=30)
@given(draft=st.builds(CardDraft, TYPED, TYPED, TYPED))
def test_what_was_typed_comes_back_until_it_is_dropped(draft: CardDraft) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "home", "card-draft.json")
        assert read_draft(path, NONE) == NONE
        keep_draft(path, draft)
        assert read_draft(path, NONE) == draft
        drop_draft(path)
        drop_draft(path)
        assert read_draft(path, NONE) == NONE


def test_a_file_that_holds_no_card_or_cannot_be_used_is_told(tmp_path: Path) -> None:
    path = tmp_path / "card-draft.json"
    unusual = (b'{"topic": "mine"}', b'{"topic": 1, "question": "", "answer": ""}')
    for content in (b"", b"{", b"[]", b"\xff", *unusual):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="does not hold an unfinished card; move it away"):
            read_draft(path, NONE)
        assert path.read_bytes() == content
    for act, said in (
        (lambda: read_draft(tmp_path, NONE), "cannot read"),
        (lambda: keep_draft(tmp_path, NONE), "cannot write"),
        (lambda: drop_draft(tmp_path), "cannot remove"),
    ):
        with pytest.raises(UsageError, match=said):
            act()
