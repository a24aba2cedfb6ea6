"""Tokens of every rank, hidden widths above and below D, all three activations from deep in one tail to the other."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "w1": "D F", "b1": "F", "w2": "F D", "b2": "D", "return": "... D"}
SIZES = {"D": (1, 6, 70), "F": (1, 9, 150)}
LARGE = 6.0  # x and w1 both grow: pre-activations of ±100
# Constants may be written with a few digits: gradients and edge cases are compared in float32, and values in float64 too.
PROFILES = {"gradients": ["ordinary"], "edge-cases": ["ordinary"], "stable": ["large"]}
TOLERANCE = {"float64": 1e-6, "float32": 2e-5}  # the two GELUs differ by 4.7·10⁻⁴
_ACTS = ["relu", "gelu", "gelu_tanh"]


def case(make):
    D, F = make.sizes("D", "F")
    x, w1 = make.argument("x"), make.argument("w1", scale=D**-0.5)
    b1, w2, b2 = make.argument("b1"), make.argument("w2", scale=F**-0.5), make.argument("b2")
    make.call("ffn", x, w1, b1, w2, b2, act=make.pick(_ACTS))


def edge_single_activations(make):
    """single pre-activations, 0 and the tails from −100 to 100

    单个预激活值：0，以及从 −100 到 100 的两端
    """
    z = torch.tensor([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.2, -2.2, 4.0, -4.0, 9.0, -9.0, 30.0, -30.0, 100.0, -100.0])
    one, nought = make.keep(torch.ones(1, 1)), make.keep(torch.zeros(1))
    for act in _ACTS:
        make.call("ffn", make.keep(z[:, None]), one, nought, one, nought, act)


def edge_tails_with_gradients(make):
    """gradients deep in the tails: 0 on one side, 1 on the other

    两端深处的梯度：一边是 0，一边是 1
    """
    z = torch.tensor([[-100.0], [-30.0], [-3.0], [3.0], [30.0], [100.0]])
    weights = [make.keep(t, grad=True) for t in (torch.ones(1, 1), torch.zeros(1), torch.ones(1, 1), torch.zeros(1))]
    for act in _ACTS:
        make.call("ffn", make.keep(z, grad=True), *weights, act)


def edge_both_biases(make):
    """x = 0: only the biases count, the first one through the activation

    x = 0：只剩偏置，其中第一个要经过激活
    """
    weights = make.normal(4, 5), make.normal(5), make.normal(5, 4), make.normal(4)
    for act in _ACTS:
        make.call("ffn", make.keep(torch.zeros(2, 3, 4)), *weights, act)
