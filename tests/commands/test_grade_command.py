"""`attn grade`, `attn verify` and `attn export` over the real challenges, as used by people and scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attncli.sandbox.policy import gpu_is_seen

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).parent.parent.parent
SDPA = ROOT / "impl" / "attention" / "sdpa"


WITHOUT_GPU = pytest.mark.skipif(gpu_is_seen(), reason="needs a machine without a GPU")


@pytest.fixture
def attn(bundled_attn):
    """`attn("grade", ...)` runs a command with a warm judge: exit code, stdout, stderr."""
    return bundled_attn


def in_its_own_process(tmp_path, command, **environ):
    environment = {**os.environ, "ATTN_HOME": str(tmp_path / "home"), **environ}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300)


def test_a_right_solution_exits_0_and_its_report_is_one_document(attn):
    code, out, err = attn("grade", "sdpa", SDPA / "reference.py", "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (report["verdict"], report["rung"]) == ("accepted", "hardened")
    assert set(report) >= {"challenge", "file", "checks", "diagnosis", "score", "seconds", "seed", "sandbox", "device"}
    assert report["score"]["passed"] == report["score"]["total"]
    assert "process" in report["sandbox"]
    _, listed, _ = attn("challenges", "--json")
    assert {item["id"]: item["standing"] for item in json.loads(listed)}["sdpa"] == "hardened"


def test_the_first_acceptance_tells_what_is_asked_next_and_the_next_challenge(attn):
    file = ROOT / "impl" / "efficient" / "online-softmax" / "reference.py"
    _, first, _ = attn("grade", "online-softmax", file)
    assert "What interviewers ask next:" in first and "  3. " in first
    assert "`attn solution online-softmax`" in first and "Next: " in first and "`attn start " in first
    _, second, _ = attn("grade", "online-softmax", file)
    assert "What interviewers ask next" not in second
    _, reference, asked = attn("solution", "online-softmax")
    assert reference == file.read_text(encoding="utf-8") and "What interviewers ask next:" in asked


def test_a_wrong_one_exits_1_with_counterexample_diagnosis_and_one_line(attn):
    code, out, err = attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py", "--json")
    report = json.loads(out)
    failed = next(check for check in report["checks"] if check["status"] == "fail")
    assert code == 1
    assert (failed["name"], failed["reason"]) == ("matches-reference", "values")
    assert set(failed["counterexample"]["args"]) >= {"q", "k", "v"}
    assert report["diagnosis"][0]["wrong"] == "no-scale"
    assert len(err.splitlines()) == 1 and "matches-reference" in err


def test_a_rejected_file_exits_1_though_its_report_is_not_read(tmp_path):
    words = f"{sys.executable} -m attncli grade sdpa {SDPA / 'wrong' / 'no-scale.py'} --no-record | true"
    done = in_its_own_process(tmp_path, ["bash", "-c", f"{words}; exit ${{PIPESTATUS[0]}}"])
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "is rejected by matches-reference" in done.stderr


def test_the_stored_counterexample_is_tried_first_next_time(attn):
    attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py", "--json")
    _, out, _ = attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py", "--json")
    failed = next(check for check in json.loads(out)["checks"] if check["status"] == "fail")
    assert failed["examples"] == 1
    assert failed["message"].startswith("the stored counterexample")


def test_with_nothing_stored_every_run_gives_the_same_counterexample(attn):
    runs = [json.loads(attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py", "--json", "--no-record")[1]) for _ in "ab"]
    shown = [[c.get("counterexample") for c in run["checks"]] for run in runs]
    assert shown[0] == shown[1]


def test_the_report_that_the_readme_shows_is_the_one_that_is_printed(attn, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```")
    (shown,) = [block.strip().splitlines() for block in blocks if "rejected (" in block]
    printed = iter(attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py")[1].splitlines())
    assert all(line in printed for line in shown), "in this order, other lines between them"


def test_people_get_lines_in_their_language(attn):
    code, out, err = attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py", "--lang", "zh")
    assert code == 1
    assert out.startswith("缩放点积注意力：未通过（10 项检查通过 ")
    assert "数值不对：最大误差" in out and "期望" in out and "实际" in out
    assert "忘了" in out
    assert "no-scale.py 未通过 matches-reference；" in err and len(err.splitlines()) == 1
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grade", "sdpq", str(SDPA / "reference.py")], "sdpa"),
        (["grade", "sdpa", "/nowhere/x.py"], "there is no file"),
        (["grade", "sdpa", str(SDPA)], "not a file"),
        (["grade", "sdpa", str(SDPA / "reference.py"), "--timeout", "-1"], "--timeout"),
        (["grade", "sdpa", str(SDPA / "reference.py"), "--timeout", "nan"], "--timeout"),
        (["grade", "sdpa", str(SDPA / "reference.py"), "--watch", "--json"], "leave out the others"),
        (["grade", "sdpa", str(SDPA / "reference.py"), "--watch", "--format", "gcc"], "leave out the others"),
        (["grade", "notes.py"], "name the challenge too: attn grade CHALLENGE notes.py"),
        (["grade", "sdpa"], "there is no file"),
        pytest.param(
            ["grade", "sdpa", str(SDPA / "reference.py"), "--device", "cuda"],
            "no NVIDIA GPU found; use --device cpu",
            marks=WITHOUT_GPU,
        ),
        pytest.param(["verify", "sdpa", "--device", "cuda"], "no NVIDIA GPU found", marks=WITHOUT_GPU),
        (["verify", "sdpa", "--device", "elsewhere"], "elsewhere"),
        (["grade", "sdpa", str(SDPA / "reference.py"), "--device", "elsewhere"], "elsewhere"),
        (["bank"], "attn bank --help"),
        (["export"], "attn export --help"),
        (["import"], "attn import --help"),
        (["verify", "nothing"], "nothing"),
        (["export", "summary", "-o", "/nowhere/at/all.html"], "cannot write"),
        (["export", "summary", "--interview", "someday"], "someday"),
    ],
)
def test_an_unusable_call_exits_2_with_one_line(attn, tmp_path, words, said):
    (tmp_path / "x.py").write_text("pass\n")
    code, out, err = attn(*words)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1 and out == ""


def test_a_file_that_does_not_parse_or_decode_is_rejected(attn, tmp_path):
    for source in (b"def sdpa(:\n", b"\xff\xfe\x00", b""):
        (tmp_path / "x.py").write_bytes(source)
        code, out, _ = attn("grade", "sdpa", tmp_path / "x.py", "--json")
        assert code == 1
        assert json.loads(out)["checks"][0]["status"] == "fail"


def test_a_challenge_alone_means_the_file_that_was_started_and_a_file_alone_its_challenge(attn, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    _, out, err = attn("start", "sdpa", "--dir", tmp_path / "elsewhere")
    file = Path(out.strip())
    assert f"attn grade sdpa {file}" in err
    file.write_text(TEXTBOOK, encoding="utf-8")
    for words in (["sdpa"], [file], ["sdpa", file]):
        code, out, _ = attn("grade", *words, "--json")
        assert (code, json.loads(out)["file"]) == (0, str(file)), words
    other = file.rename(tmp_path / "rms-norm.py")
    assert json.loads(attn("grade", other, "--json", "--no-record")[1])["challenge"] == "rms-norm"
    _, out, err = attn("start", "sdpa")
    assert "then run `attn grade sdpa`" in err
    assert json.loads(attn("grade", "sdpa", "--json")[1])["file"] == out.strip()


@pytest.mark.parametrize(
    ("source", "line", "column", "said"),
    [
        ("def sdpa(q, k, v, mask=None, scale=None):\n    x = (\n", 2, 5, "loads: SyntaxError"),
        ("def sdpa(q, k, v, mask=None, scale=None):\n    if 1:\n        return y\n", 3, 9, "NameError"),
        ("import torch\n\ndef sdpa(q, k, v, mask=None, scale=None):\n    return v\n", 3, 1, "shape"),
    ],
)
def test_editors_get_file_line_and_column_of_each_failed_check(attn, tmp_path, source, line, column, said):
    (tmp_path / "x.py").write_text(source)
    code, out, _ = attn("grade", "sdpa", tmp_path / "x.py", "--format", "gcc")
    first = out.splitlines()[0]
    assert code == 1 and first.startswith(f"{tmp_path / 'x.py'}:{line}:{column}: error: ") and said in first
    assert attn("grade", "sdpa", SDPA / "reference.py", "--format", "gcc")[:2] == (0, "")


@pytest.mark.parametrize(
    "wrong", ["rope/half-split-pairing", "paged-kv/shared-block-overwritten", "mla/absorbs-the-head-mean"]
)
def test_a_rejection_names_the_likely_mistake_within_three_lines_and_has_thirty_at_most(attn, wrong):
    id, _, name = wrong.partition("/")
    (file,) = ROOT.glob(f"impl/*/{id}/wrong/{name}.py")
    lines = attn("grade", id, file, "--no-record")[1].splitlines()
    assert any(line.strip().startswith("Likely mistake: ") for line in lines[1:3]) and len(lines) <= 30


def test_the_likely_mistake_is_withheld_until_it_is_asked_for(attn):
    attn("config", "diagnosis", "no")
    words = ("grade", "sdpa", SDPA / "wrong" / "no-scale.py", "--no-record")
    assert "√d" not in attn(*words)[1] and "√d" in attn(*words, "--diagnosis")[1]


def test_a_loop_ends_at_the_timeout_and_says_so(attn, tmp_path):
    (tmp_path / "x.py").write_text("def sdpa(q, k, v, mask=None, scale=None):\n    while True: pass\n")
    code, out, _ = attn("grade", "sdpa", tmp_path / "x.py", "--json", "--timeout", "1")
    failed = next(check for check in json.loads(out)["checks"] if check["status"] == "fail")
    assert (code, failed["reason"]) == (1, "timeout")
    assert "still running after 1 s" in failed["message"]


def test_without_torch_the_judge_fails_with_the_remedy(tmp_path):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    command = [sys.executable, "-m", "attncli", "grade", "sdpa", str(SDPA / "reference.py"), "--json"]
    done = in_its_own_process(tmp_path, command, PYTHONPATH=str(tmp_path))
    assert done.returncode == 3
    assert json.loads(done.stdout)["verdict"] == "error"
    assert "torch" in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_summary_holds_the_graded_code(attn, tmp_path):
    attn("grade", "sdpa", SDPA / "right" / "einsum.py")
    code, _, err = attn("export", "summary", "-o", tmp_path / "s.html", "--lang", "zh")
    assert code == 0
    assert err.endswith(f"wrote {tmp_path / 's.html'}\n")
    assert "einsum" in (tmp_path / "s.html").read_text(encoding="utf-8")
    assert json.loads(attn("export", "summary", "--format", "json")[1])["solved"][0]["id"] == "sdpa"


def test_a_fresh_exam_is_offered_once_a_file_was_accepted(attn):
    file = SDPA / "reference.py"
    code, out, _ = attn("grade", "sdpa", file)
    assert (code, out.splitlines()[-1].strip()) == (0, f"Grade again on other inputs: attn grade sdpa {file} --seed 1")
    code, out, _ = attn("--lang", "zh", "grade", "sdpa", file, "--seed", 2**31 - 1)
    assert (code, out.splitlines()[-1].strip()) == (0, f"换一批输入再评测：attn grade sdpa {file} --seed 0")
    code, out, _ = attn("grade", "sdpa", SDPA / "wrong" / "no-scale.py")
    assert code == 1 and "--seed" not in out


TEXTBOOK = """
import math
import torch

def sdpa(q, k, v, mask=None, scale=None):
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if mask is not None:
        dead = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(dead, 0.0)
    weights = torch.softmax(scores, -1)
    return (weights if mask is None else weights.masked_fill(dead, 0.0)) @ v
"""


def test_what_is_right_at_the_whiteboard_is_accepted_unless_more_is_asked_for(attn, tmp_path):
    file = tmp_path / "sdpa.py"
    file.write_text(TEXTBOOK, encoding="utf-8")
    code, out, err = attn("grade", "sdpa", file, "--rung", "hardened")
    assert (code, len(err.splitlines())) == (1, 1)
    assert "is solved, but not hardened: it fails edge-cases" in err
    assert "to harden it: edge-cases, low-precision" in out
    assert out.startswith("Scaled dot-product attention: solved, but not hardened (")
    _, listed, _ = attn("challenges", "--json")
    assert {item["id"]: item["standing"] for item in json.loads(listed)}["sdpa"] == "solved"
    code, out, err = attn("grade", "sdpa", file, "--json", "--no-record")
    report = json.loads(out)
    assert (code, report["verdict"], report["rung"]) == (0, "accepted", "solved")
    failed = {check["name"]: check["rung"] for check in report["checks"] if check["status"] == "fail"}
    assert failed == {"edge-cases": "hardened", "low-precision": "hardened"}
    assert attn("config", "rung", "hardened")[0] == 0
    code, _, err = attn("--lang", "zh", "grade", "sdpa", file, "--no-record")
    assert code == 1 and "已解出，但未加固：未通过 edge-cases" in err
    assert attn("grade", "sdpa", file, "--rung", "solved", "--no-record")[0] == 0
