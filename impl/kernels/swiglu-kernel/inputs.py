"""Halves of one projection as views, and separate tensors; rows of every width; gates deep in both tails."""

from __future__ import annotations

import torch

AXES = {"gate": "... F", "up": "... F", "return": "... F"}
SIZES = {"F": (1, 40)}
LEAD = (0, 2)
GRADIENTS = False
ALIAS_ALLOWED = ("torch.chunk",)  # the halves are views of their projection; the entry's own result is not
WITHOUT_MOTIFS = {"long"}  # 150 rows take the interpreter a second: `edge_many_rows` has 90
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}


def halves(make, projection):
    """gate and up as views of one projection: the left and the right half of its last dimension."""
    parts = make.new("torch.chunk", projection, 2, -1)
    make.call("swiglu_gate", parts[0], parts[1])


def case(make):
    scale = make.pick([1.0, 4.0])
    if make.pick(["halves", "halves", "apart"]) == "halves":
        halves(make, make.normal(*make.lead(), 2 * make.size("F"), scale=scale, grad=False))
    else:
        make.call("swiglu_gate", make.argument("gate", scale=scale, grad=False), make.argument("up", grad=False))


def edge_halves_of_every_width(make):
    """halves of one projection, rows of every width, and separate tensors

    同一个投影的两半，各种宽度的行；也有各自独立的张量
    """
    for rows, F in ((3, 5), (2, 64), (5, 63), (1, 129), (7, 200), (2, 1025), (19, 1)):
        halves(make, make.normal(rows, 2 * F, grad=False))
    make.call("swiglu_gate", make.normal(3, 70, grad=False), make.normal(3, 70, grad=False))


def edge_gate_and_up_laid_out_differently(make):
    """gate is half of a projection and up a separate tensor, and the reverse

    gate 是投影的一半而 up 是独立的张量，以及反过来
    """
    for swapped in (False, True):
        parts = make.new("torch.chunk", make.normal(4, 2 * 37, grad=False), 2, -1)
        alone = make.normal(4, 37, grad=False)
        make.call("swiglu_gate", *((alone, parts[1]) if swapped else (parts[0], alone)))


def edge_many_rows(make):
    """90 rows of 3, and more elements than a few blocks hold, in rows of 900

    90 行、每行 3 个；还有一行 900 个的，几块装不下
    """
    halves(make, make.normal(90, 6, grad=False))
    halves(make, make.normal(2, 3, 1800, grad=False))


def edge_tails(make):
    """single gates: 0, and the tails from −200 to 200

    单个门的输入：0，以及从 −200 到 200 的两端
    """
    z = [0.0, 0.5, -0.5, 1.0, -1.0, -1.278, 4.0, -4.0, 30.0, -30.0, 88.0, -88.0, 100.0, -100.0, 200.0, -200.0]
    gate = torch.tensor(z)
    halves(make, make.keep(torch.stack((gate, torch.full_like(gate, 2.0)), -1)))


def _sized(make, rows):
    halves(make, make.normal(rows, 2 * 100, grad=False))


CONTRACTS = [
    {
        "check": "work",
        "measure": "moved",
        "case": _sized,
        "sizes": [10, 20, 40],
        "bound": lambda rows: 12 * 100 * rows,
        "growth_at_most": 1.1,
        "says": {
            "en": "gate and up are loaded once and the result is stored once: 12 bytes an element in float32",
            "zh": "gate、up 各读一次，结果写一次：float32 下每个元素 12 字节",
        },
    },
    {
        "check": "memory",
        "measure": "peak",
        "case": _sized,
        "sizes": [10, 20, 40],
        "bound": lambda rows: 4 * 100 * rows,
        "growth_at_most": 1.5,
        "says": {
            "en": "the halves of a projection are read where they are: nothing but the result is made, no copy of them",
            "zh": "投影的两半就地读取：除了结果不产生别的张量，也不复制它们",
        },
    },
]
