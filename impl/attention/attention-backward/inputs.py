"""Queries, keys and values of unequal sizes, any gradient at the output; scores far apart."""

from __future__ import annotations

import torch

AXES = {
    "q": "... T d",
    "k": "... S d",
    "v": "... S dv",
    "do": "... T dv",
    "return[0]": "... T d",
    "return[1]": "... S d",
    "return[2]": "... S dv",
}
SIZES = {"T": (1, 5, 60), "S": (1, 7, 100), "d": (1, 6, 70), "dv": (1, 5, 66)}
GRADIENTS = False
LARGE = 6.0  # q and k both grow, so the scores reach ±200
PROFILES = {"stable": ["large"]}
TOLERANCE = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-4, "bfloat16": 1e-4}  # dP − D may leave next to nothing
TOLERANCE_STABLE = {"float32": 1e-2}  # keys and gradients of some tens, and differences near 0
# Nothing is hidden here; and where scores pass 1000, their rounding times keys that large is more than any tolerance.
WITHOUT_MOTIFS = {"scores-later-keys-lead", "scores-very-low", "scores-beyond-float16", "scores-tied-in-bfloat16"}


def case(make):
    q, k = make.queries_and_keys()
    make.call("sdpa_backward", q, k, make.argument("v"), make.argument("do"))


def edge_one_key_has_all_the_weight(make):
    """one key has all the weight: dq and dk are 0, dv is not

    一个 key 独占全部权重：dq、dk 为 0，dv 不为 0
    """
    q = torch.tensor([[20.0, 0.0], [-20.0, 0.0], [0.0, 20.0]])
    k = torch.tensor([[20.0, 0.0], [-20.0, 0.0], [0.0, 20.0]])
    make.call("sdpa_backward", make.keep(q), make.keep(k), make.normal(3, 4), make.normal(3, 4))


def edge_uniform_weights(make):
    """q = 0: every weight is 1/S, dk is 0, dq is not

    q = 0：权重都是 1/S，dk 为 0，dq 不为 0
    """
    make.call(
        "sdpa_backward",
        make.keep(torch.zeros(2, 3, 4)),
        make.normal(2, 5, 4),
        make.normal(2, 5, 2),
        make.normal(2, 3, 2),
    )


def edge_equal_values(make):
    """all values equal: the weights do not matter, dq and dk are 0

    所有 value 都相等：权重无关紧要，dq、dk 为 0
    """
    v = make.normal(1, 3, grad=False).expand(4, 3).clone()
    make.call("sdpa_backward", make.normal(3, 2), make.normal(4, 2), make.keep(v), make.normal(3, 3))


def edge_one_row_arrives(make):
    """a gradient arrives at one query, or at one feature, alone

    只有一个 query、或只有一个特征收到梯度
    """
    for row, column in ((slice(1, 2), slice(None)), (slice(None), slice(2, 3))):
        do = torch.zeros(3, 4, dtype=torch.float64)
        do[row, column] = 1.5
        make.call("sdpa_backward", make.normal(3, 2), make.normal(5, 2), make.normal(5, 4), make.keep(do))
