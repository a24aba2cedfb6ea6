"""Edits made here and by another program meanwhile are both preserved."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.errors import UsageError
from attncli.practice.start import LARGEST_BYTES, OpenFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "sdpa.py").write_text("one\n", encoding="utf-8")
    return tmp_path / "sdpa.py"


def test_what_is_saved_is_on_disk_and_read_again(path: Path) -> None:
    file = OpenFile(path)
    assert file.save("two 二\n") is None
    assert OpenFile(path).text == file.text == "two 二\n"


def test_what_something_else_wrote_is_kept_under_a_free_name(path: Path) -> None:
    file = OpenFile(path)
    for number, other in enumerate(("theirs", "theirs again"), 1):
        path.write_text(other, encoding="utf-8")
        kept = file.save(f"mine {number}")
        assert kept == path.with_name(f"sdpa.other-{number}.py") and kept.read_text(encoding="utf-8") == other
        assert path.read_text(encoding="utf-8") == f"mine {number}"


def test_a_file_that_says_the_same_already_needs_no_copy(path: Path) -> None:
    file = OpenFile(path)
    path.write_text("same", encoding="utf-8")
    assert file.save("same") is None and len(list(path.parent.iterdir())) == 1


def test_a_file_that_is_gone_is_written_again(path: Path) -> None:
    file = OpenFile(path)
    path.unlink()
    assert file.save("back") is None and path.read_text(encoding="utf-8") == "back"


@given(st.lists(st.tuples(st.booleans(), st.text(alphabet="ab\n中", max_size=6)), max_size=8))
def test_nothing_that_was_on_disk_is_lost_but_what_was_written_here(tmp_path_factory, acts) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("open") / "a.py"
    path.write_text("first", encoding="utf-8")
    file, others = OpenFile(path), set[str]()
    for is_other, text in acts:
        if is_other:
            path.write_text(text, encoding="utf-8", newline="")
        else:
            if (there := path.read_text(encoding="utf-8")) not in (file.text, text):
                others.add(there)
            file.save(text)
            assert path.read_text(encoding="utf-8") == text
    assert others <= {kept.read_text(encoding="utf-8") for kept in path.parent.glob("a.other-*.py")}


def test_what_cannot_be_opened_is_told(path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*gone.py \(No such file or directory\); make it readable"):
        OpenFile(path.with_name("gone.py"))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text; open it in another editor"):
        OpenFile(path)
    path.write_bytes(b"x" * (LARGEST_BYTES + 1))
    with pytest.raises(UsageError, match="is larger than 256 KiB; open it in another editor"):
        OpenFile(path)


def test_what_cannot_be_written_is_told_and_what_was_typed_is_not_lost(path: Path) -> None:
    file = OpenFile(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        file.save("typed")
    assert file.text == "one\n"
