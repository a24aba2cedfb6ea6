"""`--tests` on the command line: from an empty file to caught mistakes, a hint, and the reference tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.sandbox

TESTS = """
import torch

def test_square(causal_mask):
    assert causal_mask(3).tolist() == torch.ones(3, 3).tril().bool().tolist()
"""


@pytest.fixture
def attn(bundled_attn):
    return bundled_attn


def standing(attn) -> str:
    return {found["id"]: found["tests"] for found in attn("challenges", "--json").json}["causal-mask"]


def test_from_an_empty_file_to_the_first_caught_mistakes(attn):
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
    assert standing(attn) == "tried"


def test_the_reference_tests_are_accepted_and_printed(attn):
    code, reference, _ = attn("solution", "causal-mask", "--tests")
    assert (code, "def test_" in reference) == (0, True)
    file = Path(attn("start", "causal-mask", "--tests")[1].strip())
    file.write_text(reference)
    code, out, _ = attn("grade", "causal-mask", "--tests", "--json", "--rung", "hardened")
    report = json.loads(out)
    assert (code, report["rung"], report["false_alarms"]) == (0, "hardened", [])
    assert "survived" not in report
    assert standing(attn) == "hardened"
    assert attn("undo")[0] == 0
    assert standing(attn) == "new"


def test_options_that_do_not_fit_are_refused_and_what_is_missing_is_named(attn, tmp_path):
    for words in (("start", "sdpa", "--tests", "--bug"), ("grade", "sdpa", "--tests", "--watch")):
        code, _, err = attn(*words)
        assert (code, "--tests cannot be combined" in err) == (2, True)
    assert "there is nothing to name" in attn("hint", "sdpa", "--tests")[2]
    assert "name the challenge too" in attn("grade", tmp_path / "mine.py", "--tests")[2]
    assert "there is no file" in attn("grade", "sdpa", "--tests")[2]
