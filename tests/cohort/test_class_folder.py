"""Grade every file of a class or name it with its reason; follow nothing out of a learner's folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attncli.cohort.outcomes import read_class, shown
from attncli.errors import NotFound, UsageError
from attncli.practice.grade import LARGEST_SUBMISSION

KNOWN = ("double", "flash-attention", "some-kernel")
RUNNABLE = ("double", "flash-attention")


def reasons(folder: Path) -> dict[str, str]:
    return {item.path: item.reason for item in read_class(folder, KNOWN, RUNNABLE).left_out}


def test_files_of_known_challenges_are_read_by_learner_and_challenge(write_class) -> None:
    folder = write_class({"b/double.py": "2", "a/flash-attention.py": "3", "a/double.py": "1", "a/notes.txt": "x"})
    found = read_class(folder, KNOWN, RUNNABLE)
    told = [(item.learner, item.challenge, item.source) for item in found.submissions]
    assert told == [("a", "double", b"1"), ("a", "flash-attention", b"3"), ("b", "double", b"2")]
    assert (found.learners, found.left_out) == (("a", "b"), ())


def test_what_cannot_be_graded_is_named_with_its_reason(write_class) -> None:
    folder = write_class({"a/double.py": "1", "stray.py": "", "a/deep/double.py": "", "a/some-kernel.py": ""})
    write_class({"big/double.py": b"#" * (LARGEST_SUBMISSION + 1), "notes.md": "", "a/flash_attention.py": ""})
    (folder / "nobody").mkdir()
    os.mkfifo(folder / "a" / "pipe.py")
    os.mkfifo(folder / "big" / "flash-attention.py")
    assert reasons(folder) == {
        "stray.py": "no-learner",
        "a/deep": "folder",
        "a/some-kernel.py": "needs-triton",
        "a/flash_attention.py": "unknown-challenge",
        "a/pipe.py": "unknown-challenge",
        "big/double.py": "too-large",
        "big/flash-attention.py": "no-file",
        "nobody": "empty",
    }
    unknown = next(item for item in read_class(folder, KNOWN, RUNNABLE).left_out if "flash_" in item.path)
    assert unknown.detail == "flash-attention"
    assert read_class(folder, KNOWN, RUNNABLE).learners == ("a", "big", "nobody")


def test_links_are_followed_within_a_learner_s_folder_alone(write_class, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("secret")
    folder = write_class({"a/mine.txt": "1", "b/double.py": "2", "c/double.py": "3"})
    (folder / "a" / "double.py").symlink_to("mine.txt")
    (folder / "b" / "flash-attention.py").symlink_to("../c/double.py")
    (folder / "c" / "flash-attention.py").symlink_to(tmp_path / "secret.py")
    (folder / "elsewhere").symlink_to(tmp_path)
    (folder / "broken").symlink_to("nothing")
    (folder / "loop").symlink_to("loop")
    links = {"b/flash-attention.py", "c/flash-attention.py", "elsewhere", "broken", "loop"}
    assert reasons(folder) == dict.fromkeys(links, "link")
    assert [item.source for item in read_class(folder, KNOWN, RUNNABLE).submissions] == [b"1", b"2", b"3"]


def test_names_are_shown_without_hiding_anything(write_class) -> None:
    folder = write_class({"a/double.py": "1"})
    (folder / os.fsdecode(b"\xff")).mkdir()
    (folder / "a" / os.fsdecode(b"\xfe\n.py")).touch()
    assert reasons(folder) == {"\\xff": "name-not-utf-8", "a/\\xfe\\n.py": "name-not-utf-8"}
    names = {"李雷": "李雷", "a\u200bb": "a\\u200bb", "a\x1b[2J": "a\\u001b[2J", "a\nb": "a\\nb"}
    assert {name: shown(name) for name in names} == names


def test_a_folder_without_a_file_to_grade_is_an_error(write_class, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no folder .*; expected files like DIR/LEARNER/CHALLENGE.py"):
        read_class(tmp_path / "missing", KNOWN, RUNNABLE)
    folder = write_class({"a/triple.py": "1"})
    with pytest.raises(UsageError, match=r"nothing to grade in .* \(a/triple.py: unknown-challenge, the first of 1\)"):
        read_class(folder, KNOWN, RUNNABLE)
    with pytest.raises(UsageError, match="is not a folder"):
        read_class(folder / "a" / "triple.py", KNOWN, RUNNABLE)
