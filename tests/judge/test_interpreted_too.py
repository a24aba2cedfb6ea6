"""Prove kernels on a GPU: a file must reach its rung in the interpreter too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attncli.judge.challenge import Folder
from attncli.judge.submission import Budget, Submission
from attncli.judge.verify import Verification
from attncli.sandbox.devices import CPU, ELSEWHERE
from in_process import InProcessWorker
from played_kernels import GREEDY, RIGHT_THERE, write_kernels


def verified(folder: Folder, device: str = ELSEWHERE) -> tuple[dict[str, Any], list[str]]:
    """Return the proof, and the devices that submissions were opened on after the first of each file."""
    opened: list[str] = []

    def submit(file: Path, on: str = device) -> Submission:
        opened.append(on)
        source = file.read_bytes()
        return Submission(source, str(file), folder.entry, InProcessWorker, Budget(600), folder.kernel, on)

    return Verification(folder, submit, lambda gradings: None, device=device).run(2), opened


@pytest.mark.parametrize(
    ("wrong", "failed"), [(GREEDY, ["work", "solved"]), (RIGHT_THERE, ["matches-reference", "solved"])]
)
def test_a_wrong_kernel_that_the_interpreter_alone_rejects_is_rejected(
    tmp_path: Path, wrong: str, failed: list[str]
) -> None:
    proof, opened = verified(write_kernels(tmp_path, wrong))
    assert (proof["surprises"], proof["failed"]) == ([], {"there": failed})
    assert CPU in opened


def test_a_sound_kernel_that_the_interpreter_rejects_is_a_surprise(tmp_path: Path) -> None:
    (found,) = verified(write_kernels(tmp_path, kernel=GREEDY))[0]["surprises"]
    assert (found["file"], found["verdict"]) == ("kernel.py", "rejected")
    assert found["message"].startswith("rejected on stream 0: work: ")


def test_on_the_cpu_nothing_is_graded_twice(tmp_path: Path) -> None:
    proof, opened = verified(write_kernels(tmp_path), CPU)
    assert proof["surprises"] == []
    assert opened == [CPU, CPU]


def test_a_file_that_is_no_kernel_is_not_interpreted(tmp_path: Path) -> None:
    folder = write_kernels(tmp_path)
    plain = Folder({**folder.spec, "kernel": False}, folder.path)
    (found,) = verified(plain)[0]["surprises"]
    assert found["file"] == "wrong/there.py"
    assert CPU not in verified(plain)[1]
