"""Tokens of every rank, hidden widths above and below D, gates deep in both tails, and model widths of every size."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "w_gate": "D F", "w_up": "D F", "w_down": "F D", "return": "... D"}
SIZES = {"D": (1, 6, 70), "F": (1, 9, 150)}
LARGE = 6.0  # x and w_gate both grow: gates of ±100
PROFILES = {"stable": ["large"]}
HARDENED = {"edge_gradients_in_the_tails"}


def case(make):
    D, F = make.sizes("D", "F")
    x, maps = make.argument("x"), [make.argument(name, scale=D**-0.5) for name in ("w_gate", "w_up")]
    make.call("swiglu_ffn", x, *maps, make.argument("w_down", scale=F**-0.5))
    make.call("swiglu_hidden", make.size(1, 6000), multiple_of=make.pick([256, 1, 64, 3, 100]))


def gates(make, z, grad):
    """Each gate beside one of 4, which sets the scale of the result: up is 1, and so is the way down."""
    x = torch.tensor([[value, 1.0] for value in z])
    gate = torch.tensor([[1.0, 0.0], [0.0, 4.0]])
    up, down = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    make.call("swiglu_ffn", *(make.keep(t, grad=grad) for t in (x, gate, up, down)))


def edge_single_gates(make):
    """single gates: 0, and the tails from −200 to 200

    单个门的输入：0，以及从 −200 到 200 的两端
    """
    gates(make, [0.0, 0.5, -0.5, 1.0, -1.0, -1.278, 4.0, -4.0, 30.0, -30.0, 88.0, -88.0, 200.0, -200.0], grad=False)


def edge_gradients_in_the_tails(make):
    """gradients for gates of ±100: 1 on one side, 0 on the other

    门的输入为 ±100 时的梯度：一边是 1，一边是 0
    """
    gates(make, [-100.0, -30.0, 0.0, 30.0, 100.0], grad=True)


def edge_widths(make):
    """widths of known models, of 1 to 12, and exact multiples

    知名模型的宽度、1 到 12 的宽度，以及恰好整除的宽度
    """
    for D in (4096, 5120, 2048, 8192, 96, 768, 97):
        make.call("swiglu_hidden", D)
    for multiple in (1, 2, 8):
        for D in range(1, 13):
            make.call("swiglu_hidden", D, multiple)
