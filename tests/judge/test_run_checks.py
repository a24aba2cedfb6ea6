"""Grade submissions to a small challenge of the tests."""

from __future__ import annotations

import pytest
import torch

from attncli.judge.counterexample import restore
from in_process import WRONG, check, grade, write_challenge

RIGHT = (
    "import torch\ndef scaled_sum(x, weight, scale=2.0):\n    return torch.einsum('...d,d->...', x, weight) * scale\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("challenge"))


def body(line: str, before: str = "") -> str:
    return f"import torch\n{before}\ndef scaled_sum(x, weight, scale=2.0):\n    {line}\n"


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("torch.set_default_dtype(torch.float64)", "changes torch's default dtype"),
        ("torch.set_grad_enabled(False)", "switches autograd on or off"),
    ],
)
def test_what_torch_does_for_everybody_is_left_as_it_was(folder, line, said):
    try:
        failed = check(grade(folder, body(f"y = (x * weight).sum(-1) * scale; {line}; return y")), "pure")
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
    assert failed["reason"] == "mutated" and said in failed["message"]
    inside = "with torch.no_grad(): pass\n    return (x * weight).sum(-1) * scale"
    assert grade(folder, body(inside))["verdict"] == "accepted"


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


def test_memory_handed_out_twice_is_aliased(tmp_path):
    folder = write_challenge(tmp_path, {"required": ["loads", "matches-reference", "pure"]})
    source = body(
        "key = (x.shape, x.dtype)\n    out = kept.setdefault(key, torch.empty(x.shape[:-1], dtype=x.dtype))\n"
        "    with torch.no_grad():\n        out.copy_((x * weight).sum(-1) * scale)\n    return out",
        before="kept = {}",
    )
    report = grade(folder, source)
    assert check(report, "pure")["reason"] == "aliased"


def test_what_needs_a_failed_check_is_skipped_and_says_so(folder):
    report = grade(folder, body("return x.sum()"))
    assert check(report, "gradients") == {
        "name": "gradients",
        "status": "skipped",
        "required": True,
        "message": "needs matches-reference",
        "message_zh": "需先通过 matches-reference",
    }


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


def test_the_counterexample_is_shrunk_and_simple(folder):
    report = grade(folder, body("return (x * weight).sum(-1)"))
    shown = check(report, "matches-reference")["counterexample"]
    assert shown["args"]["x"]["shape"] == [2, 1, 1]
    assert set(shown["args"]["weight"]["values"]) <= {0.0, 1.0}
    assert shown["expected"]["values"] != shown["got"]["values"]
    assert shown["first_wrong_index"] in ([0, 0], [1, 0])


def test_the_mistake_is_named_with_its_card(folder):
    report = grade(folder, body("return (x * weight).sum(-1)"))
    assert report["diagnosis"] == [{"wrong": "no-scale", "says": "Forgets the scale.", "cards": ["att-02"]}]


def test_a_mistake_that_the_outputs_do_not_prove_is_not_named(folder):
    # Agrees with no-scale wherever the default scale is used, and differs from it elsewhere.
    report = grade(folder, body("return (x * weight).sum(-1) * (1.0 if scale == 2.0 else 3.0)"))
    assert report["verdict"] == "rejected"
    assert report["diagnosis"] == []


def test_the_same_file_gives_the_same_report_every_time(folder):
    def shown(report):
        return [{k: v for k, v in item.items() if k != "seconds"} for item in report["checks"]]

    source = body("return (x * weight).sum(-1).relu() * scale")
    assert shown(grade(folder, source)) == shown(grade(folder, source))


def test_another_stream_is_another_exam(folder):
    source = body("return (x * weight).sum(-1).relu() * scale")
    first, second = (grade(folder, source, seed=s) for s in (0, 1))
    assert first["verdict"] == second["verdict"] == "rejected"
    assert (first["seed"], second["seed"]) == (0, 1)


def test_a_stored_counterexample_is_tried_first(folder):
    source = body("return (x * weight).sum(-1) * scale + (x.shape[-1] == 5) * 1.0")
    first = grade(folder, source)
    again = grade(folder, source, replay=first["stored"])
    failed = check(again, "matches-reference")
    assert failed["examples"] == 1
    assert failed["message"].startswith("the stored counterexample: ")


def test_after_a_stored_counterexample_that_ends_the_process_nothing_is_asked(folder):
    stored = grade(folder, body("return (x * weight).sum(-1) * scale + (x.shape[-1] == 5) * 1.0"))["stored"]
    again = grade(folder, body("raise MemoryError"), replay=stored)
    assert check(again, "matches-reference")["reason"] == "memory"
    assert check(again, "edge-cases")["status"] == "skipped"


def test_a_stored_counterexample_that_no_longer_fits_is_passed_over(folder):
    kept = {"check": "matches-reference", "record": "gone", "profile": "ordinary", "draws": [], "values": []}
    assert grade(folder, RIGHT, replay=[kept])["verdict"] == "accepted"


def test_quick_grading_asks_first_for_the_check_that_is_named(folder):
    source = body("return (x.detach() * weight).sum(-1) * scale")
    report = grade(folder, source, quick=True, first=("gradients", "solved"))
    assert [item["name"] for item in report["checks"]] == ["loads", "gradients"]
    assert report["verdict"] == "rejected"


def test_quick_grading_stops_at_the_first_failure(folder):
    report = grade(folder, body("return (x * weight).sum(-1)"), quick=True)
    assert [item["name"] for item in report["checks"]] == ["loads", "matches-reference"]


@pytest.mark.parametrize("draws", [[20_000, 7, 1, 0], [-1] * 9, ["x"], 5, [], [2**70] * 9])
def test_a_stored_counterexample_that_was_never_drawn_is_passed_over(tmp_path, draws):
    folder = write_challenge(tmp_path)
    kept = {"check": "matches-reference", "record": "case", "profile": "ordinary", "draws": draws, "values": []}
    assert restore(kept, folder) is None
    assert grade(folder, RIGHT, replay=[kept], quick=True)["verdict"] == "accepted"


def test_a_replayed_counterexample_names_the_mistake_again(tmp_path):
    folder = write_challenge(tmp_path)
    first = grade(folder, WRONG["no-scale"])
    again = grade(folder, WRONG["no-scale"], replay=tuple(first["stored"]))
    assert "the stored counterexample" in check(again, "matches-reference")["message"]
    assert [d["wrong"] for d in again["diagnosis"]] == [d["wrong"] for d in first["diagnosis"]] == ["no-scale"]


def test_what_was_due_is_shown_in_the_dtype_that_is_due_when_the_submission_raises(tmp_path):
    report = grade(write_challenge(tmp_path), "def scaled_sum(x, weight, scale=2.0):\n    raise ValueError('no')\n")
    assert check(report, "matches-reference")["counterexample"]["expected"]["dtype"] == "float32"


def test_control_sequences_of_a_submission_do_not_reach_the_report(tmp_path):
    source = "def scaled_sum(x, weight, scale=2.0):\n    raise ValueError('a\\x1b[2Jb\\x07')\n"
    report = grade(write_challenge(tmp_path), source)
    message = check(report, "matches-reference")["message"]
    assert "ab" in message
    assert "\x1b" not in message
