"""Grade submissions to a small challenge of the tests."""

from __future__ import annotations

import pytest
import torch

from attncli.domain.grade_report import GradeReport, read
from attncli.domain.grade_report_text import deciding_checks
from attncli.judge.counterexample import restore
from in_process import check, grade, write_challenge


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("challenge"))


def body(line: str, before: str = "") -> str:
    return f"import torch\n{before}\ndef scaled_sum(x, weight, scale=2.0):\n    {line}\n"


RIGHT = body("return torch.einsum('...d,d->...', x, weight) * scale")
FORBIDDEN = body("return (x * weight).cumsum(-1)[:, :, 3] * scale")


def test_a_different_right_solution_is_accepted(folder):
    report = grade(folder, RIGHT)
    assert report["verdict"] == "accepted"
    assert all(item["status"] == "pass" for item in report["checks"])
    assert report["score"] == {"passed": 9, "total": 9}


@pytest.mark.parametrize(
    ("line", "name", "reason"),
    [
        ("return (x * weight).sum(-1)", "matches-reference", "values"),
        ("return (x * weight).sum(-1, keepdim=True) * scale", "matches-reference", "shape"),
        ("return ((x * weight).sum(-1) * scale).double()", "matches-reference", "dtype"),
        ("return (x * weight).sum(-1) * scale / 0", "matches-reference", "not-finite"),
        ("return ((x.detach() * weight).sum(-1) * scale)", "gradients", "gradient"),
        ("x.data.mul_(weight); return x.sum(-1) * scale", "pure", "mutated"),
        ("weight.unsqueeze_(0); return (x * weight).sum(-1) * scale", "pure", "mutated"),
        ("x.transpose_(0, 1); return (x * weight).sum(-1).transpose(0, 1) * scale", "pure", "mutated"),
        ("x.requires_grad_(True); return (x * weight).sum(-1) * scale", "pure", "mutated"),
        ("return ((x * weight).sum(-1) * scale).to(torch.float32)", "matches-reference", "dtype"),
        ("return (x * weight).sum(-1) * scale * (1 + 1e-3)", "matches-reference", "values"),
        ("return (x * weight).cumsum(-1)[..., -1] * scale", "forbidden", "forbidden"),
        ("return x.nowhere()", "matches-reference", "exception"),
        ("return None", "matches-reference", "shape"),
    ],
)
def test_each_mistake_fails_its_check_for_its_reason(folder, line, name, reason):
    report = grade(folder, body(line))
    assert report["verdict"] == "rejected"
    failed = check(report, name)
    assert (failed["status"], failed["reason"]) == ("fail", reason)
    assert failed["message"]


def test_what_torch_does_for_everybody_is_left_as_it_was(folder):
    for line, said in (
        ("torch.set_default_dtype(torch.float64)", "changes torch's default dtype"),
        ("torch.set_grad_enabled(False)", "switches autograd on or off"),
    ):
        try:
            failed = check(grade(folder, body(f"y = (x * weight).sum(-1) * scale; {line}; return y")), "pure")
        finally:
            torch.set_default_dtype(torch.float32)
            torch.set_grad_enabled(True)
        assert failed["reason"] == "mutated" and said in failed["message"]
    inside = "with torch.no_grad(): pass\n    return (x * weight).sum(-1) * scale"
    assert grade(folder, body(inside))["verdict"] == "accepted"


def test_without_a_device_argument_the_default_device_is_expected(tmp_path):
    spec = {"id": "ones", "entry": ["ones"], "required": ["loads", "device"], "forbidden": []}
    reference = "import torch\ndef ones(n, device=None):\n    return torch.ones(n, device=device)\n"
    inputs = (
        'GRADIENTS = False\ndef case(make):\n    make.call("ones", make.size(1, 3), **make.placed)\n'
        'def edge_default(make):\n    """None."""\n    make.default_device()\n    make.call("ones", 2, device=None)\n'
    )
    folder = write_challenge(tmp_path, spec, reference, inputs, {})
    assert grade(folder, reference)["verdict"] == "accepted"
    (failed,) = failed_checks(grade(folder, reference.replace("device=device", 'device=device or "cpu"')))
    assert failed == "device"


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("parts = list(parts); parts.reverse(); return sum(p.sum() for p in parts)", False),
        ("total = sum(p.sum() for p in parts); parts.reverse(); return total", True),
        ("more['a'] = more['a'] * 1; return sum(part.sum() for part in parts)", True),
        ("more['b'] = more.pop('a'); return sum(part.sum() for part in parts)", True),
        ("total = sum(p.sum() for p in parts); parts[0] = parts[0].clone(); return total", True),
        ("return sum(parts.pop().sum() for _ in range(len(parts)))", True),
    ],
)
def test_lists_and_dicts_of_tensors_are_left_as_they_were(tmp_path, line, changes):
    spec = {"id": "total", "entry": ["total"], "required": ["loads", "matches-reference", "pure"], "forbidden": []}
    reference = "def total(parts, more):\n    return sum(part.sum() for part in parts)\n"
    inputs = (
        "def case(make):\n    parts = [make.normal(make.size(1, 4)) for _ in range(3)]\n"
        '    make.call("total", parts, {"a": make.normal(2)})\n'
    )
    report = grade(write_challenge(tmp_path, spec, reference, inputs, {}), f"def total(parts, more):\n    {line}\n")
    assert report["verdict"] == ("rejected" if changes else "accepted")
    if changes:
        assert check(report, "pure")["reason"] == "mutated"


def test_a_tensor_made_on_the_default_device_is_found_without_a_gpu(folder):
    report = grade(folder, body("return (x * torch.ones(x.shape[-1], dtype=x.dtype) * weight).sum(-1) * scale"))
    assert check(report, "device")["reason"] == "exception"
    assert "meta" in check(report, "device")["message"]


def test_an_answer_that_depends_on_earlier_calls_is_its_own_reason(folder):
    source = body("seen.append(1); return (x * weight).sum(-1) * scale + (len(seen) > 30)", before="seen = []")
    report = grade(folder, source)
    assert report["verdict"] == "rejected"
    reasons = {item.get("reason") for item in report["checks"] if item["status"] == "fail"}
    assert reasons & {"depends-on-earlier-calls", "nondeterministic"}


def test_random_answers_are_nondeterministic(folder):
    report = grade(folder, body("return (x * weight).sum(-1) * scale + 1e-9 * torch.rand(()).to(x.dtype)"))
    assert report["verdict"] == "rejected"


@pytest.mark.parametrize(
    ("source", "reason", "words"),
    [
        ("def scaled_sum(:\n", "exception", "line 1"),
        ("\x00", "exception", "null bytes"),
        ("def other(): pass\n", "missing-entry-point", "scaled_sum"),
        ("def scaled_sum(x): return x\n", "missing-entry-point", "takes 1 parameters"),
        ("def scaled_sum(x, weight, factor=2.0): return x\n", "missing-entry-point", "factor"),
        ("def scaled_sum(x, weight, scale, extra): return x\n", "missing-entry-point", "more required"),
        ("raise KeyError('no')\n", "exception", "KeyError"),
    ],
)
def test_a_file_that_cannot_be_used_is_rejected_by_loads(folder, source, reason, words):
    report = grade(folder, source)
    loads = check(report, "loads")
    assert (report["verdict"], loads["status"], loads["reason"]) == ("rejected", "fail", reason)
    assert words in loads["message"]


def test_the_counterexample_is_small_the_mistake_named_and_what_needs_the_check_skipped(folder):
    report = grade(folder, body("return (x * weight).sum(-1)"))
    shown = check(report, "matches-reference")["counterexample"]
    assert shown["args"]["x"]["shape"] == [2, 1, 1]
    assert set(shown["args"]["weight"]["values"]) <= {0.0, 1.0}
    assert shown["expected"]["values"] != shown["got"]["values"]
    assert shown["first_wrong_index"] in ([0, 0], [1, 0])
    assert report["diagnosis"] == [{"wrong": "no-scale", "says": "Forgets the scale.", "cards": ["att-02"]}]
    said = {"message": "needs matches-reference", "message_zh": "需先通过 matches-reference"}
    assert check(report, "gradients") == {"name": "gradients", "status": "skipped", "required": True, **said}
    again = grade(folder, body("return (x * weight).sum(-1)"), replay=report["stored"])
    assert check(again, "matches-reference")["examples"] == 1
    assert check(again, "matches-reference")["message"].startswith("the stored counterexample: ")
    assert again["diagnosis"] == report["diagnosis"], "a replayed counterexample names the mistake again"


def test_a_mistake_that_the_outputs_do_not_prove_is_not_named(folder):
    # Agrees with no-scale wherever the default scale is used, and differs from it elsewhere.
    report = grade(folder, body("return (x * weight).sum(-1) * (1.0 if scale == 2.0 else 3.0)"))
    assert (report["verdict"], report["diagnosis"]) == ("rejected", [])


def test_a_stream_is_an_exam_and_gives_the_same_report_every_time(folder, tmp_path):
    def shown(report):
        return [{k: v for k, v in item.items() if k != "seconds"} for item in report["checks"]]

    source = body("return (x * weight).sum(-1).relu() * scale")
    first, other = (grade(folder, source, seed=stream) for stream in (0, 1))
    assert shown(first) == shown(grade(write_challenge(tmp_path), source)), "drawn again"
    assert first["verdict"] == other["verdict"] == "rejected" and (first["seed"], other["seed"]) == (0, 1)


def test_after_a_stored_counterexample_that_ends_the_process_nothing_is_asked(folder):
    stored = grade(folder, body("return (x * weight).sum(-1) * scale + (x.shape[-1] == 5) * 1.0"))["stored"]
    again = grade(folder, body("raise MemoryError"), replay=stored)
    assert check(again, "matches-reference")["reason"] == "memory"
    assert check(again, "edge-cases")["status"] == "skipped"


@pytest.mark.parametrize("draws", [[20_000, 7, 1, 0], [-1] * 9, ["x"], 5, [], [2**70] * 9])
def test_a_stored_counterexample_that_was_never_drawn_is_passed_over(folder, draws):
    kept = {"check": "matches-reference", "record": "case", "profile": "ordinary", "draws": draws, "values": []}
    assert restore(kept, folder) is None
    assert grade(folder, RIGHT, replay=[kept, {**kept, "record": "gone"}], quick=True)["verdict"] == "accepted"


def test_quick_grading_asks_first_for_the_check_that_is_named_and_stops_at_the_first_failure(folder):
    source = body("return (x.detach() * weight).sum(-1) * scale")
    report = grade(folder, source, quick=True, first=("gradients", "solved"))
    assert [item["name"] for item in report["checks"]] == ["loads", "gradients"] and report["verdict"] == "rejected"
    report = grade(folder, body("return (x * weight).sum(-1)"), quick=True)
    assert [item["name"] for item in report["checks"]] == ["loads", "matches-reference"]


def test_an_exception_is_told_without_control_sequences_beside_what_was_due(folder):
    failed = check(grade(folder, body("raise ValueError('a\\x1b[2Jb\\x07')")), "matches-reference")
    assert "ab" in failed["message"] and "\x1b" not in failed["message"]
    assert failed["counterexample"]["expected"]["dtype"] == "float32"


def deciding(report) -> str:
    decided = next(iter(deciding_checks(read(GradeReport, report).checks)), None)
    return f"{decided.name}: {decided.message.en}" if decided else "nothing"


def failed_checks(report) -> list[str]:
    return [item["name"] for item in report["checks"] if item["status"] == "fail"]


def test_a_forbidden_call_or_import_leads_the_faults_that_follow_from_it(folder):
    report = grade(folder, FORBIDDEN)
    assert failed_checks(report)[0] == report["checks"][0]["name"] == "forbidden"
    assert "edge-cases" in failed_checks(report)
    assert deciding(report).startswith("forbidden: line 4: Tensor.cumsum is not allowed here")
    report = grade(folder, "import no_such_module\n" + RIGHT)
    assert deciding(report).startswith("forbidden: line 1: imports no_such_module")
    assert failed_checks(report) == ["forbidden", "loads"]


def test_without_one_the_first_fault_leads_in_the_order_of_the_checks_and_a_badge_leads_nothing(folder, tmp_path):
    for source in (body("return (x * weight).sum(-1) * 3"), "def"):
        report = grade(folder, source)
        assert report["checks"][0]["name"] == "loads"
        assert deciding(report).startswith(failed_checks(report)[0] + ": ")
    badge = write_challenge(tmp_path, {"required": ["loads", "matches-reference"], "badges": ["forbidden"]})
    report = grade(badge, body("return (x * weight).cumsum(-1)[..., -1] * scale"))
    assert report["checks"][0]["name"] == "loads" and deciding(report) == "nothing"
