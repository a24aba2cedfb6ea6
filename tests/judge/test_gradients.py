"""Judge cancelling gradients by the size of their terms before the cancellation."""

from __future__ import annotations

import pytest

from in_process import check, grade, write_challenge

LAYER_NORM = """
def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * gamma + beta
"""
INPUTS = """
import torch

def case(make):
    D = make.size(1, 2)
    x = make.normal(make.size(1, 3), D, mean=2.0)
    make.call("layer_norm", x, make.normal(D), make.normal(D), make.pick([1e-5, 1e-6]))
"""
SPEC = {"entry": ["layer_norm"], "required": ["loads", "matches-reference", "gradients"], "forbidden": []}
TORCHS_OWN = """
import torch
def layer_norm(x, gamma, beta, eps):
    return torch.native_layer_norm(x, x.shape[-1:], gamma, beta, eps)[0]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("terms"), SPEC, LAYER_NORM, INPUTS, {})


@pytest.mark.parametrize("stream", range(4))
def test_rows_of_one_feature_grant_what_their_terms_round(folder, stream):
    assert grade(folder, TORCHS_OWN, seed=stream, quick=True)["rung"] == "hardened"


@pytest.mark.parametrize(
    ("find", "replace"), [("x - x.mean", "x - x.detach().mean"), ("(centred.square", "(centred.detach().square")]
)
def test_a_gradient_that_lacks_a_term_is_found_all_the_same(folder, find, replace):
    report = grade(folder, LAYER_NORM.replace(find, replace), quick=True)
    assert report["rung"] == "none" and check(report, "gradients")["status"] == "fail"
