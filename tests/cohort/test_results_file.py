"""Store results fully or not at all; reuse them only for the same file and the same standard."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.cohort.grade_class import FILE, FOLDER, open_results
from attncli.cohort.outcomes import stored_result
from attncli.errors import UsageError

from .conftest import RIGHT, WRONG, report_on, task

GRADED = stored_result(report_on(RIGHT))


def test_what_was_added_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with open_results(tmp_path) as results:
        results.add(task("李雷"), GRADED)
        assert results.of(task("李雷")) == GRADED
    with open_results(tmp_path) as results:
        assert results.of(task("李雷")) == GRADED


def test_another_file_person_or_standard_has_no_result(tmp_path: Path) -> None:
    mine = task("ada")
    with open_results(tmp_path) as results:
        results.add(mine, GRADED)
        other_standard = replace(mine, standard=replace(mine.standard, fingerprint="another"))
        for other in (task("bob"), task("ada", source=WRONG), task("ada", id="triple"), other_standard):
            assert results.of(other) is None


@given(cut=st.integers(0, 10_000), rubbish=st.binary(max_size=20))
def test_a_file_that_was_cut_anywhere_keeps_its_whole_lines_and_takes_more(tmp_path_factory, cut, rubbish) -> None:
    folder = tmp_path_factory.mktemp("class")
    people = ["a", "b", "c"]
    with open_results(folder) as results:
        for name in people:
            results.add(task(name), GRADED)
    path = folder / FOLDER / FILE
    content = path.read_bytes()[:cut]
    path.write_bytes(content + rubbish.replace(b"\n", b""))
    whole = content.count(b"\n")
    with open_results(folder) as results:
        assert [results.of(task(name)) is not None for name in people] == [place < whole for place in range(3)]
        results.add(task("d"), GRADED)
    with open_results(folder) as results:
        assert results.of(task("d")) == GRADED
    assert path.read_bytes().count(b"\n") == whole + 1


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"learner": "a"}', b'{"graded": {"rung": "none"}}', b'{"seed": 3}', b"\xff", b"null"]
)
def test_a_line_that_is_no_result_is_passed_over(tmp_path: Path, line: bytes) -> None:
    with open_results(tmp_path) as results:
        results.add(task("a"), GRADED)
    path = tmp_path / FOLDER / FILE
    path.write_bytes(line + b"\n" + path.read_bytes())
    with open_results(tmp_path) as results:
        assert results.of(task("a")) == GRADED


@pytest.mark.parametrize("seed", [b"-1", b"2147483648", b"true", b'"1"', b"1e400", b"null"])
def test_a_seed_out_of_range_is_none(tmp_path: Path, seed: bytes) -> None:
    with open_results(tmp_path) as results:
        results.add(task("a"), GRADED)
    path = tmp_path / FOLDER / FILE
    path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": ' + seed))
    with open_results(tmp_path) as results:
        assert results.seed is None and results.of(task("a")) == GRADED


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    with (
        open_results(tmp_path),
        pytest.raises(UsageError, match="another attn cohort is grading"),
        open_results(tmp_path),
    ):
        pass


def test_results_that_somebody_else_put_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / FOLDER).symlink_to("theirs")
    with pytest.raises(UsageError, match="belongs to another user"), open_results(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_s_is_refused(tmp_path: Path) -> None:
    with open_results(tmp_path):
        pass
    os.chown(tmp_path / FOLDER / FILE, 12345, 12345)
    with pytest.raises(UsageError, match="belongs to another user"), open_results(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_to_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("")
    with pytest.raises(UsageError, match=r"cannot write .*; move that file out of the way"), open_results(tmp_path):
        pass
