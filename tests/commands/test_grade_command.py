"""Grade, verify, repair and test over the real challenges, as used by people and scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attncli.bank.challenge_rules import load_repairs
from attncli.domain.challenge import planted
from attncli.sandbox.policy import gpu_is_seen

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

ROOT = Path(__file__).parent.parent.parent
SDPA = ROOT / "impl" / "attention" / "sdpa"
REFERENCE, NO_SCALE = SDPA / "reference.py", SDPA / "wrong" / "no-scale.py"
NO_GPU = "no NVIDIA GPU found"
LIKELY = ["rope/half-split-pairing", "paged-kv/shared-block-overwritten", "mla/absorbs-the-head-mean"]
TESTS = """
import torch

def test_square(causal_mask):
    assert causal_mask(3).tolist() == torch.ones(3, 3).tril().bool().tolist()
"""


@pytest.fixture
def attn(bundled_attn):
    """`attn("grade", ...)` runs a command with a warm judge: exit code, stdout, stderr."""
    return bundled_attn


def in_its_own_process(home, command, **environ):
    environment = {**os.environ, "ATTN_HOME": str(home), **environ}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300)


def failed(report):
    return next(check for check in report["checks"] if check["status"] == "fail")


def standing(attn):
    return {item["id"]: item["standing"] for item in attn("challenges", "--json").json}["sdpa"]


def test_a_right_solution_exits_0_and_its_first_acceptance_tells_what_is_next(attn):
    code, out, err = attn("grade", "sdpa", REFERENCE, "--json", "--no-record")
    report = json.loads(out)
    assert (code, err, standing(attn)) == (0, "", "new")
    assert (report["verdict"], report["rung"]) == ("accepted", "hardened")
    assert set(report) >= {"challenge", "file", "checks", "diagnosis", "score", "seconds", "seed", "sandbox", "device"}
    assert report["score"]["passed"] == report["score"]["total"]
    assert "process" in report["sandbox"]
    code, first, _ = attn("grade", "sdpa", REFERENCE)
    assert (code, standing(attn)) == (0, "hardened")
    assert "What interviewers ask next:" in first and "  3. " in first
    assert "`attn solution sdpa`" in first and "Next: " in first and "`attn start " in first
    fresh = f"Grade again on other inputs: attn grade sdpa {REFERENCE} --seed "
    assert first.splitlines()[-1].strip() == f"{fresh}1"
    code, second, _ = attn("grade", "sdpa", REFERENCE, "--seed", 2**31 - 1)
    assert (code, second.splitlines()[-1].strip()) == (0, f"{fresh}0")
    assert "What interviewers ask next" not in second
    _, solution, asked = attn("solution", "sdpa")
    assert solution == REFERENCE.read_text(encoding="utf-8") and "What interviewers ask next:" in asked
    (solved,) = attn("export", "summary", "--format", "json").json["solved"]
    assert (solved["id"], solved["source"]) == ("sdpa", solution.strip("\n"))


def test_a_wrong_one_exits_1_with_a_counterexample_that_is_stored_and_tried_first_next_time(attn):
    first, second = (attn("grade", "sdpa", NO_SCALE, "--json", *record) for record in (["--no-record"], []))
    report = first.json
    assert (first.code, failed(report)["name"], failed(report)["reason"]) == (1, "matches-reference", "values")
    assert set(failed(report)["counterexample"]["args"]) >= {"q", "k", "v"}
    assert report["diagnosis"][0]["wrong"] == "no-scale"
    assert len(first.err.splitlines()) == 1 and "matches-reference" in first.err
    shown = [[check.get("counterexample") for check in run.json["checks"]] for run in (first, second)]
    assert shown[0] == shown[1], "with nothing stored every run gives the same"
    again = failed(attn("grade", "sdpa", NO_SCALE, "--json").json)
    assert again["examples"] == 1 and again["message"].startswith("the stored counterexample")


@pytest.mark.full
def test_a_rejected_file_exits_1_though_its_report_is_not_read(bundled_attn, home):
    words = f"{sys.executable} -m attncli grade sdpa {NO_SCALE} --no-record | true"
    done = in_its_own_process(home, ["bash", "-c", f"{words}; exit ${{PIPESTATUS[0]}}"])
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and "is rejected by matches-reference" in done.stderr


def test_the_report_that_the_readme_shows_is_the_one_that_is_printed_in_the_learners_language(attn, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```")
    (shown,) = [block.strip().splitlines() for block in blocks if "rejected (" in block]
    text = attn("grade", "sdpa", NO_SCALE, "--no-record").out
    printed = iter(text.splitlines())
    assert all(line in printed for line in shown), "in this order, other lines between them"
    assert "√d" in text and "--seed" not in text
    attn("config", "diagnosis", "no")
    code, out, err = attn("grade", "sdpa", NO_SCALE, "--no-record", "--lang", "zh")
    assert code == 1 and out.startswith("缩放点积注意力：未通过（10 项检查通过 ")
    assert "数值不对：最大误差" in out and "期望" in out and "实际" in out
    assert "no-scale.py 未通过 matches-reference；" in err and len(err.splitlines()) == 1
    assert "忘了" not in out, "the likely mistake is withheld until it is asked for"
    assert "忘了" in attn("grade", "sdpa", NO_SCALE, "--no-record", "--lang", "zh", "--diagnosis").out


UNUSABLE = {
    f"grade sdpq {REFERENCE}": "sdpa",
    "grade sdpa /nowhere/x.py": "there is no file",
    f"grade sdpa {SDPA}": "not a file",
    f"grade sdpa {REFERENCE} --timeout -1": "--timeout",
    f"grade sdpa {REFERENCE} --timeout nan": "--timeout",
    f"grade sdpa {REFERENCE} --watch --json": "leave out the others",
    f"grade sdpa {REFERENCE} --watch --format gcc": "leave out the others",
    "grade notes.py": "name the challenge too: attn grade CHALLENGE notes.py",
    "grade sdpa": "there is no file",
    f"grade sdpa {REFERENCE} --device cuda": f"{NO_GPU}; use --device cpu",
    "verify sdpa --device cuda": NO_GPU,
    "verify sdpa --device elsewhere": "elsewhere",
    f"grade sdpa {REFERENCE} --device elsewhere": "elsewhere",
    "bank": "attn bank --help",
    "export": "attn export --help",
    "import": "attn import --help",
    "verify nothing": "nothing",
    "start sdpa --repair 2 --bug": "--bug and --repair cannot be combined",
    "start sdpa --seed 2": "--seed chooses a repair round; add --repair N",
    "start sdpa --repair 0": "0 is not in the range 1<=x<=4",
    "start sdpa --repair 9": "9 is not in the range 1<=x<=4",
    "start vector-add --repair 2": "challenge vector-add has no repair round; use --bug",
    "start spda --repair 2": "spda",
    "start sdpa --tests --bug": "--tests cannot be combined",
    "grade sdpa --tests --watch": "--tests cannot be combined",
    "hint sdpa --tests": "there is nothing to name",
    "grade mine.py --tests": "name the challenge too",
    "grade sdpa --tests": "there is no file",
    "export summary -o /nowhere/at/all.html": "cannot write",
    "export summary --interview someday": "someday",
}


def test_an_unusable_call_exits_2_with_one_line(attn):
    for call, said in UNUSABLE.items():
        if not (said.startswith(NO_GPU) and gpu_is_seen()):
            code, out, err = attn(*call.split())
            assert (code, out, len(err.splitlines())) == (2, "", 1) and said in err, call


def test_a_file_that_does_not_parse_decode_or_end_is_rejected(attn, tmp_path):
    for source in (b"def sdpa(:\n", b"\xff\xfe\x00", b""):
        (tmp_path / "x.py").write_bytes(source)
        done = attn("grade", "sdpa", tmp_path / "x.py", "--json")
        assert (done.code, done.json["checks"][0]["status"]) == (1, "fail")
    (tmp_path / "x.py").write_text("def sdpa(q, k, v, mask=None, scale=None):\n    while True: pass\n")
    done = attn("grade", "sdpa", tmp_path / "x.py", "--json", "--timeout", "1")
    check = failed(done.json)
    assert (done.code, check["reason"]) == (1, "timeout") and "still running after 1 s" in check["message"]


def test_a_challenge_alone_means_the_file_that_was_started_and_a_file_alone_its_challenge(attn, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    _, out, err = attn("start", "sdpa", "--dir", tmp_path / "elsewhere")
    file = Path(out.strip())
    assert f"attn grade sdpa {file}" in err
    for words in (["sdpa"], [file], ["sdpa", file]):
        assert attn("grade", *words, "--json").json["file"] == str(file), words
    other = file.rename(tmp_path / "rms-norm.py")
    assert attn("grade", other, "--json", "--no-record").json["challenge"] == "rms-norm"
    _, out, err = attn("start", "sdpa")
    assert "then run `attn grade sdpa`" in err
    assert attn("grade", "sdpa", "--json").json["file"] == out.strip()


def test_editors_get_file_line_and_column_of_each_failed_check(attn, tmp_path):
    head = "def sdpa(q, k, v, mask=None, scale=None):\n"
    file = tmp_path / "x.py"
    for source, line, column, said in (
        (f"{head}    x = (\n", 2, 5, "loads: SyntaxError"),
        (f"{head}    if 1:\n        return y\n", 3, 9, "NameError"),
        (f"import torch\n\n{head}    return v\n", 3, 1, "shape"),
    ):
        file.write_text(source)
        code, out, _ = attn("grade", "sdpa", file, "--format", "gcc")
        first = out.splitlines()[0]
        assert code == 1 and first.startswith(f"{file}:{line}:{column}: error: ") and said in first
    assert attn("grade", "sdpa", REFERENCE, "--format", "gcc")[:2] == (0, "")


@pytest.mark.parametrize("wrong", [LIKELY[0], *(pytest.param(wrong, marks=pytest.mark.full) for wrong in LIKELY[1:])])
def test_a_rejection_names_the_likely_mistake_within_three_lines_and_has_thirty_at_most(attn, wrong):
    id, _, name = wrong.partition("/")
    (file,) = ROOT.glob(f"impl/*/{id}/wrong/{name}.py")
    lines = attn("grade", id, file, "--no-record")[1].splitlines()
    assert any(line.strip().startswith("Likely mistake: ") for line in lines[1:3]) and len(lines) <= 30


def test_without_torch_the_judge_fails_with_the_remedy(bundled_attn, home, tmp_path):
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    command = [sys.executable, "-m", "attncli", "grade", "sdpa", str(REFERENCE), "--json"]
    done = in_its_own_process(home, command, PYTHONPATH=str(tmp_path))
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "error")
    assert "torch" in done.stderr and len(done.stderr.splitlines()) == 1


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
    assert standing(attn) == "solved"
    code, out, err = attn("grade", "sdpa", file, "--json", "--no-record")
    report = json.loads(out)
    assert (code, report["verdict"], report["rung"]) == (0, "accepted", "solved")
    rungs = {check["name"]: check["rung"] for check in report["checks"] if check["status"] == "fail"}
    assert rungs == {"edge-cases": "hardened", "low-precision": "hardened"}
    assert attn("config", "rung", "hardened")[0] == 0
    code, _, err = attn("--lang", "zh", "grade", "sdpa", file, "--no-record")
    assert code == 1 and "已解出，但未加固：未通过 edge-cases" in err
    assert attn("grade", "sdpa", file, "--rung", "solved", "--no-record")[0] == 0


def test_a_round_is_graded_bug_by_bug_and_counts_apart(attn, tmp_path):
    code, out, err = attn("start", "sdpa", "--repair", 3, "--dir", tmp_path)
    file = Path(out.strip())
    assert code == 0 and "3 bugs to find and fix" in err and f"attn grade sdpa {file}" in err
    assert "sdpa is not solved yet, and this file shows the reference" in err
    code, out, err = attn("grade", "sdpa", file, "--json")
    report = json.loads(out)
    names = [bug["wrong"] for bug in report["repaired"]["left"]]
    assert code == 1 and report["repaired"]["of"] == 3 and report["repaired"]["done"] == 0 and len(names) == 3
    assert all(bug["symptom"] and bug["symptom_zh"] for bug in report["repaired"]["left"])
    assert not {found["wrong"] for found in report["diagnosis"]} & set(names)
    reference = (SDPA / "reference.py").read_text(encoding="utf-8")
    repairs = {repair.wrong: repair for repair in load_repairs(SDPA)}
    file.write_text(planted(reference, [repairs[names[1]]]), encoding="utf-8")
    code, out, _ = attn("grade", "sdpa", file, "--lang", "en")
    assert code == 1 and "2 of 3 bugs fixed" in out and "Symptoms of the rest:" in out and names[1] not in out
    file.write_text(reference, encoding="utf-8")
    code, out, _ = attn("grade", "sdpa", file)
    assert code == 0 and "All 3 bugs fixed: this file counts as fixed" in out and "interviewers ask next" not in out
    _, listed, _ = attn("challenges", "--json")
    found = next(item for item in json.loads(listed) if item["id"] == "sdpa")
    assert (found["standing"], found["due"], found["fixed"]) == ("new", None, 1)
    _, listed, _ = attn("challenges")
    assert "fixed: 1" in next(line for line in listed.splitlines() if line.startswith("sdpa "))
    assert "undone: the repair of sdpa" in attn("undo")[1]


def standing_of_tests(attn) -> str:
    return {found["id"]: found["tests"] for found in attn("challenges", "--json").json}["causal-mask"]


def test_tests_go_from_an_empty_file_to_the_reference(attn):
    code, out, err = attn("start", "causal-mask", "--tests")
    file = Path(out.strip())
    assert (code, file.name) == (0, "test_causal_mask.py")
    assert "attn grade causal-mask --tests" in err
    assert attn("start", "causal-mask", "--tests")[0] == 2, "an existing file is never overwritten"
    code, out, err = attn("grade", "causal-mask", "--tests")
    assert (code, "no test asserts anything" in out) == (1, True)
    file.write_text(TESTS)
    code, out, err = attn("grade", file, "--tests")
    assert code == 1
    assert "solved needs 13 of the 16 basic ones" in out
    assert "attn hint" not in out
    assert "test_causal_mask.py are not good enough yet" in err
    code, out, _ = attn("hint", "causal-mask", "--tests")
    assert (code, out.startswith("Hint 1 of ")) == (0, True)
    assert attn("hint", "causal-mask", "--tests")[1].startswith("Hint 2 of ")
    assert standing_of_tests(attn) == "tried"
    code, reference, _ = attn("solution", "causal-mask", "--tests")
    assert (code, "def test_" in reference) == (0, True)
    file.write_text(reference)
    code, out, _ = attn("grade", "causal-mask", "--tests", "--json", "--rung", "hardened")
    report = json.loads(out)
    assert (code, report["rung"], report["false_alarms"]) == (0, "hardened", [])
    assert "survived" not in report
    assert standing_of_tests(attn) == "hardened"
    assert attn("undo")[0] == 0
    assert standing_of_tests(attn) == "tried"
