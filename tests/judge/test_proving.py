"""Prove challenges: find each error of a challenge on the stream that shows it, and report it once per file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from attncli.domain.checks import CHECKS
from attncli.domain.vocabulary import CaseRung
from attncli.judge import verify
from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam
from attncli.judge.grade import Grading
from attncli.judge.protocol import Request
from attncli.judge.submission import Budget, Submission
from attncli.judge.verify import Verification
from attncli.sandbox.devices import CPU, ELSEWHERE
from in_process import INPUTS, REFERENCE, WRONG, InProcessWorker, write_challenge
from played_kernels import GREEDY, RIGHT_THERE, write_kernels

STREAMS = 5


@pytest.fixture(autouse=True)
def three_at_once(monkeypatch):
    monkeypatch.setattr(verify, "STREAMS_AT_ONCE", 3)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "right").mkdir()
    (tmp_path / "right" / "dot.py").write_text("def scaled_sum(x, weight, scale=2.0):\n    return x @ weight * scale\n")
    return write_challenge(tmp_path)


def verified(
    folder, streams: int = STREAMS, known: Any = (), only: Sequence[str] = ()
) -> tuple[dict[str, Any], list[int]]:
    gradings: list[int] = []

    def submit(file: Path) -> Submission:
        return Submission((folder.path / file).read_bytes(), str(file), folder.entry, InProcessWorker, Budget(600))

    return Verification(folder, submit, gradings.append, dict(known), only=only).run(streams), gradings


def test_a_challenge_that_holds_has_no_surprises(folder):
    proof, gradings = verified(folder)
    failed = {"no-scale": ["matches-reference", "solved"]}
    assert proof == {"sound": 2, "wrong": 1, "surprises": [], "failed": failed}
    assert sum(gradings) == 3 * STREAMS
    source = WRONG["no-scale"].replace("rung: solved", "rung: hardened")
    (folder.path / "wrong" / "no-scale.py").write_text(source)
    assert verified(folder, 1)[0]["surprises"] == [], "a mistake in the technique is short of the second rung too"


def test_a_wrong_file_that_passes_and_a_right_one_that_fails_are_surprises_told_once(folder):
    (folder.path / "wrong" / "none.py").write_text(f'"""No mistake."""\n{REFERENCE}')
    (folder.path / "right" / "not.py").write_text(WRONG["no-scale"])
    passed, failed = sorted(verified(folder, 2)[0]["surprises"], key=lambda found: found["verdict"])
    message = "accepted on stream 0, though it must not reach solved"
    assert passed == {"file": "wrong/none.py", "line": 1, "stream": 0, "verdict": "accepted", "message": message}
    assert (failed["file"], failed["verdict"], failed["line"]) == ("right/not.py", "rejected", 1)
    assert failed["message"].startswith("rejected on stream 0: matches-reference: ")


@pytest.mark.slow
@pytest.mark.parametrize("rung", ["solved", pytest.param("hardened", marks=pytest.mark.full)])
def test_what_is_said_of_earlier_proofs_changes_no_verdict(folder, rung):
    rounded = REFERENCE.replace("    return", "    if x.dtype.itemsize == 2: return x.sum(-1)\n    return")
    (folder.path / "wrong" / "rounded.py").write_text(f'"""Wrong in 16 bits.\n\nrung: {rung}\n"""\n{rounded}')
    before, _ = verified(folder, 1)
    for known in (
        ("low-precision", "hardened"),
        ("gradients", "solved"),
        ("matches-reference", "hardened"),
        ("nothing", "solved"),
        ("", None),
    ):
        after, _ = verified(folder, 1, {"rounded": known, "no-scale": known, "gone": known})
        assert {**after, "failed": None} == {**before, "failed": None}, known
    found = before["surprises"]
    assert bool(found) == (rung == "solved"), "it may reach the rung below the one that it names"
    if found:
        assert (found[0]["file"], found[0]["line"], found[0]["verdict"]) == ("wrong/rounded.py", 3, "accepted")
        said = "though it must not reach solved; only low-precision on the hardened rung turns it away"
        assert found[0]["message"] == f"accepted on stream 0, {said}"


BUFFERED = """
import torch

_kept = {}

def scaled_sum(x, weight, scale=2.0):
    result = (x * weight).sum(-1) * scale
    if torch.is_grad_enabled() or result.device.type == "meta":
        return result
    kept = _kept.setdefault((result.shape, result.dtype), torch.empty_like(result))
    return kept.copy_(result)
"""
LAYOUT = pytest.param(("layout", "hardened"), marks=pytest.mark.full)


@pytest.mark.parametrize("known", [(), ("edge-cases", "hardened"), ("pure", "hardened"), LAYOUT])
def test_a_fault_of_the_second_rung_that_shows_on_the_first_is_never_passed_over(folder, known):
    (folder.path / "wrong" / "buffered.py").write_text(f'"""One buffer.\n\nrung: hardened\n"""\n{BUFFERED}')
    proof, _ = verified(folder, 1, {"buffered": known} if known else {})
    assert proof["surprises"] == [] and proof["failed"]["buffered"][1] == "hardened"


ONE_MEMORY = """
kept = {}

def scaled_sum(x, weight, scale=2.0):
    key = (str(x.dtype), *x.shape, *x.flatten().tolist(), *weight.tolist(), scale)
    return kept.setdefault(key, (x * weight).sum(-1).detach() * scale)
"""


@pytest.mark.parametrize("known", [("edge-cases", "hardened"), ("pure", "hardened"), ("", None)])
def test_a_fault_of_the_second_rung_that_the_first_one_shows_is_told_whatever_is_asked_first(tmp_path, known):
    inputs = 'GRADIENTS = False\nPROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}\n' + INPUTS
    required = ["loads", "matches-reference", "pure", "edge-cases"]
    folder = write_challenge(tmp_path, {"required": required}, inputs=inputs, wrong={})
    said = '"""Hands out one memory.\n\nrung: hardened\n"""\n'
    (tmp_path / "wrong" / "one-memory.py").write_text(said + ONE_MEMORY)
    assert verified(folder, 1, {"one-memory": known})[0]["surprises"] == []


def test_a_right_file_that_fails_late_is_found_where_it_fails(folder):
    """The file is right for its first hundred and fifty calls, so only many streams reveal it."""
    late = "n = 0\ndef scaled_sum(x, weight, scale=2.0):\n    global n\n    n += 1\n"
    late += "    return (x * weight).sum(-1) * (scale if n < 150 else 3.0)\n"
    (folder.path / "right" / "late.py").write_text(late)
    (found,) = verified(folder)[0]["surprises"]
    assert found["file"] == "right/late.py" and found["stream"] > 0


def test_of_a_sample_the_right_solutions_share_the_questions(folder, monkeypatch):
    asked: defaultdict[str, set[int]] = defaultdict(set)
    answers = Submission.answers

    def noted(submission: Submission, requests: Iterable[Request]) -> Any:
        def noting() -> Iterator[Request]:
            for request in requests:
                asked[Path(submission.filename).stem].add(id(request.case))
                yield request

        return answers(submission, noting())

    monkeypatch.setattr(Submission, "answers", noted)
    (folder.path / "right" / "same.py").write_text(REFERENCE)
    assert verified(folder, 1)[0]["surprises"] == []
    whole = len(asked.pop("reference"))
    asked.clear()
    assert verified(folder, 1, only=["no-scale"])[0]["surprises"] == []
    shares = [asked[name] for name in ("reference", "dot", "same")]
    assert len(set.union(*shares)) >= whole
    assert all(0.25 < len(share) / whole < 0.45 for share in shares)


def test_of_a_sample_a_check_with_few_questions_goes_to_every_third_right_solution(folder, monkeypatch):
    taken: defaultdict[str, set[str]] = defaultdict(set)
    asked: list[int] = []
    check, shared = Grading._check, Grading._shared

    def noted(grading: Grading, name: str, rung: CaseRung) -> None:
        taken[name].add(Path(grading.submission.filename).stem)
        check(grading, name, rung)

    def counted(grading: Grading, name: str, questions: list[Any]) -> list[Any]:
        found = shared(grading, name, questions)
        if name == "pure" and grading.share[1] > 1 and questions:
            asked.append(len(found))
        return found

    monkeypatch.setattr(Grading, "_check", noted)
    monkeypatch.setattr(Grading, "_shared", counted)
    more = ["same-1", "same-2", "same-3", "same-4"]
    for name in more:
        (folder.path / "right" / f"{name}.py").write_text(REFERENCE)
    assert verified(folder, 1, only=["no-scale"])[0]["surprises"] == []
    assert taken["matches-reference"] >= {"reference", "dot", *more} == taken["edge-cases"] == taken["forbidden"]
    assert taken["pure"] == {"reference", "same-2"}
    assert set(asked) == {CHECKS["pure"].examples}


def test_no_stream_changes_an_edge_case_and_every_stream_changes_what_is_drawn(folder):
    first, second = Exam(folder, 0), Exam(folder, 5)
    for a, b in zip(first.edges("edge-cases"), second.edges("edge-cases"), strict=True):
        pairs = zip(a.question.case.inputs, b.question.case.inputs, strict=True)
        assert all(torch.equal(one.value, other.value) for one, other in pairs)
    drawn = [exam.strata("matches-reference")[0].questions for exam in (first, second)]
    values = [[item.value.tolist() for question in questions for item in question.case.inputs] for questions in drawn]
    assert values[0] != values[1]


def test_a_right_file_of_which_a_required_check_proves_nothing_is_a_surprise(tmp_path):
    """A reference that only runs on the CPU cannot prove that another file runs elsewhere."""
    source = "import torch\ndef twice(x):\n    return torch.tensor(x.tolist(), dtype=x.dtype) + x\n"
    spec = {"id": "twice", "entry": ["twice"], "required": ["loads", "device"], "forbidden": []}
    inputs = 'def case(make):\n    make.call("twice", make.normal(make.size(1, 3)))\n'
    (found,) = verified(write_challenge(tmp_path, spec, source, inputs, {}), 1)[0]["surprises"]
    assert (found["file"], found["verdict"]) == ("reference.py", "accepted")
    assert found["message"].startswith("accepted on stream 0: device: ")


def verified_there(folder: Folder, device: str = ELSEWHERE) -> tuple[dict[str, Any], list[str]]:
    """Return the proof, and the devices that submissions were opened on after the first of each file."""
    opened: list[str] = []

    def submit(file: Path, on: str = device) -> Submission:
        opened.append(on)
        source = file.read_bytes()
        return Submission(source, str(file), folder.entry, InProcessWorker, Budget(600), folder.kernel, on)

    return Verification(folder, submit, lambda gradings: None, device=device).run(2), opened


def test_a_wrong_kernel_that_the_interpreter_alone_rejects_is_rejected_and_a_sound_one_told(tmp_path: Path) -> None:
    for wrong, check in ((GREEDY, "work"), (RIGHT_THERE, "matches-reference")):
        proof, opened = verified_there(write_kernels(tmp_path / check, wrong))
        assert (proof["surprises"], proof["failed"]) == ([], {"there": [check, "solved"]})
        assert CPU in opened
    (found,) = verified_there(write_kernels(tmp_path / "sound", kernel=GREEDY))[0]["surprises"]
    assert (found["file"], found["verdict"]) == ("kernel.py", "rejected")
    assert found["message"].startswith("rejected on stream 0: work: ")


def test_on_the_cpu_and_of_what_is_no_kernel_nothing_is_graded_twice(tmp_path: Path) -> None:
    folder = write_kernels(tmp_path)
    proof, opened = verified_there(folder, CPU)
    assert (proof["surprises"], opened) == ([], [CPU, CPU])
    proof, opened = verified_there(Folder({**folder.spec, "kernel": False}, folder.path))
    (found,) = proof["surprises"]
    assert found["file"] == "wrong/there.py" and CPU not in opened
