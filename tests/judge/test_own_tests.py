"""A learner's tests run in the sandbox: what they catch, false alarms, and every way in which a file can misbehave."""

from __future__ import annotations

import pytest

from attncli.bank.loader import load_challenge
from attncli.domain.tests_report import Caught, OwnTestsReport
from attncli.judge.client import GradeOptions, OwnTestsRequest
from attncli.paths import bundled_impl
from attncli.practice.library import challenge_of
from attncli.practice.own_tests import request_of

pytestmark = pytest.mark.sandbox

REFERENCE = "import torch\n\n\ndef double(x: torch.Tensor) -> torch.Tensor:\n    '''Secret.'''\n    return x + x\n"
SOLUTIONS = {
    "reference.py": REFERENCE,
    "right/product.py": "def double(x):\n    return x * 2\n",
    "wrong/triple.py": '"""Triples.\n\nrung: solved"""\ndef double(x):\n    return 3 * x\n',
    "wrong/in-place.py": '"""Writes to x.\n\nrung: hardened"""\ndef double(x):\n    return x.mul_(2)\n',
    "wrong/slow.py": '"""Adds one by one.\n\nrung: hardened"""\ndef double(x):\n    return x + x\n',
}
REJECTED_BY = {"triple": ("matches-reference", "solved"), "in-place": ("pure", "hardened")}
REJECTED_BY["slow"] = ("work", "hardened")
GOOD = """
import torch
from hypothesis import given, strategies as st

@given(st.integers(1, 3))
def test_values(double, n):
    x = torch.ones(n)
    torch.testing.assert_close(double(x), 2 * torch.ones(n))
    {more}
"""


@pytest.fixture(scope="module")
def run(judge, tmp_path_factory):
    folder = tmp_path_factory.mktemp("double")
    for name, source in SOLUTIONS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source)
    spec = {"id": "double", "version": 1, "entry": ["double"], "required": ["loads"], "kernel": False}

    def call(tests: str, seconds: float = 10.0) -> OwnTestsReport:
        options = GradeOptions(timeout_seconds=seconds)
        asked = {"spec": spec, "folder": folder, "source": tests.encode(), "filename": "t.py", "options": options}
        return judge.run_tests(OwnTestsRequest(rejected_by=REJECTED_BY, **asked))

    return call


def test_what_is_caught_is_counted_by_kind_and_decides_the_rung(run):
    report = run(GOOD.format(more=""))
    assert (report.verdict, report.rung, report.right, report.false_alarms) == ("accepted", "solved", 2, ())
    assert (report.first, report.all) == (Caught(1, 1), Caught(1, 2))
    assert report.caught == {"values": Caught(1, 1), "purity": Caught(0, 1), "complexity": Caught(0, 1)}
    assert report.survived == ("in-place", "slow")
    assert [(each.number, each.kind) for each in report.survivors] == [(1, "purity"), (2, "complexity")]
    assert run(GOOD.format(more="assert x.equal(torch.ones(n))")).rung == "hardened"


def test_tests_may_have_modules_of_their_own_and_end_when_they_hang(run):
    module = (
        "class Twice(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.factor = 2\n"
    )
    use = "def test_a(double):\n    assert double(torch.ones(2)).tolist() == [Twice().factor] * 2\n"
    report = run(f"import torch\n{module}{use}")
    assert (report.fault.en, report.false_alarms, report.all.caught) == ("", (), 1)
    report = run("def test_a(double):\n    while True: pass\n    assert False\n", seconds=0.5)
    assert (report.reason, report.fault.en) == ("timeout", "still running after 0.5 s")


def test_a_test_that_fails_a_right_solution_is_a_false_alarm_with_its_line_and_the_result(run):
    report = run("import torch\n\ndef test_a(double):\n    assert double(torch.ones(2)).sum() == 5\n")
    assert (report.verdict, report.rung) == ("rejected", "none")
    assert {alarm.solution for alarm in report.false_alarms} == {"reference", "product"}
    alarm = next(alarm for alarm in report.false_alarms if alarm.solution == "reference")
    assert (alarm.test, alarm.line, alarm.code) == ("test_a", 4, "assert double(torch.ones(2)).sum() == 5")
    assert alarm.returned == "float32 [2]: 2, 2"


FAULTS = {
    "def test_a(double)\n": ("exception", "line 1: expected ':'"),
    "": ("missing-entry-point", "no test found"),
    "def test_a(other):\n    assert other\n": ("missing-entry-point", "test_a asks for other"),
    "def test_a(double):\n    double(1)\n": ("missing-entry-point", "no test asserts anything"),
    "import os\n": ("refused", "line 1: import"),
    "x = 1 / 0\n": ("exception", "line 1: ZeroDivisionError"),
    "def test_a(double):\n    assert open('/etc/passwd')\n": ("refused", "open"),
    "def test_a(double):\n    assert double.__wrapped__\n": ("refused", "__wrapped__"),
    "def test_a(double):\n    assert '{0.__code__}'.format(double)\n": ("refused", "__"),
    "def test_a(double):\n    assert getattr(double, 'x')\n": ("refused", "getattr"),
    "import torch\ntorch.add = None\ndef test_a(double):\n    assert double\n": ("refused", "add"),
    "import hypothesis\nassert hypothesis.core.sys\n": ("refused", "sys"),
    "import torch\ndef test_a(double):\n    assert torch.load('/etc/passwd')\n": ("refused", "PermissionError"),
    "import torch\ndef test_a(double):\n    assert torch.ones(1 << 40)\n": ("memory", "line 3"),
    "def test_a(double):\n    assert print('x' * 2_000_000)\n": ("output", "printed more than"),
    "def test_a(double):\n    raise SystemExit(assert_close)\nassert_close = 0\n": ("exited", "SystemExit"),
}


def test_a_file_that_misbehaves_has_a_fault_of_its_own(run):
    for tests, (reason, text) in FAULTS.items():
        report = run(tests)
        assert (report.verdict, report.reason, text in report.fault.en) == ("rejected", reason, True), tests


def test_nothing_is_kept_between_solutions_and_a_solution_cannot_be_seen(run):
    counting = "runs = []\ndef test_a(double):\n    runs.append(1)\n    assert len(runs) == 1\n"
    seen = "def test_a(double):\n    assert 'double' not in repr(double) and 'Secret' not in str(type(double).mro())\n"
    swallowing = "def test_a(double):\n    try: assert double(1) == 0\n    except BaseException: pass\n"
    for tests in (counting, seen, swallowing):
        report = run(tests)
        assert (report.fault.en, report.false_alarms, report.all.caught) == ("", (), 0)


@pytest.mark.full
def test_a_kernel_is_loaded_with_the_source_that_triton_reads(judge):
    pytest.importorskip("triton")
    challenge = challenge_of(load_challenge(bundled_impl() / "kernels/softmax-kernel/challenge.yaml").documents[0])
    tests = b"import torch\ndef test_a(softmax):\n    assert softmax(torch.ones(2, 4)).sum().item() == 2\n"
    report = judge.run_tests(request_of(challenge, tests, "t.py", GradeOptions()))
    assert (report.fault.en, report.false_alarms) == ("", ())
    assert report.all.caught > 0
