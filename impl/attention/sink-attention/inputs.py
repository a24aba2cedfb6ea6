"""Groups of query heads with one sink per head, a past of any length, windows, and sinks from −∞ to 1000."""

from __future__ import annotations

import torch

AXES = {"q": "B H T d", "k": "B G S d", "v": "B G S d", "sink": "H", "return": "B H T d"}
SIZES = {"B": (1, 2), "G": (1, 3), "R": (1, 3), "T": (1, 5, 40), "past": (0, 4, 80), "d": (1, 5, 33), "window": (1, 6)}
DERIVED = {"H": "G * R", "S": "T + past"}
LARGE = 10.0  # q and k both grow, so the logits reach ±200 and more
PROFILES = {"stable": ["large"]}
TOLERANCE = {"float32": 1e-30, "float64": 1e-30}  # under a sink far above all scores, what is left is rounded to zero
_INF = float("inf")


def case(make):
    q, k = make.queries_and_keys()
    window = make.pick([None, make.size("window")])
    make.call("sink_attention", q, k, make.argument("v"), make.argument("sink", scale=2.0), window=window)


def of_sizes(make, **sizes):
    make.hold(B=1, **sizes)
    return make.arguments("q", "k", "v")


def edge_sinks_and_scores_of_a_thousand(make):
    """scores of ±1000 under sinks of 1000, −1000, 0 and 999: values and gradients stay finite

    分数 ±1000，sink 为 1000、−1000、0、999：值和梯度都有限
    """
    q = torch.tensor([[100.0, 0.0], [-100.0, 1.0], [0.1, 0.1]], dtype=torch.float64) * 2**0.5
    k = torch.tensor([[10.0, 1.0], [-10.0, 2.0], [9.99, -1.0], [0.0, 1.0]], dtype=torch.float64)
    sink = make.keep(torch.tensor([1000.0, -1000.0, 0.0, 999.0]), grad=True)
    args = (
        make.keep(q.expand(1, 4, 3, 2), grad=True),
        make.keep(k.expand(1, 2, 4, 2), grad=True),
        make.normal(1, 2, 4, 2),
    )
    for window in (None, 2):
        make.call("sink_attention", *args, sink, window)


def edge_no_sink(make):
    """a sink of −∞ is ordinary attention, with zero gradient into it; one of 0 adds e⁰ = 1

    sink 为 −∞ 就是普通注意力，它的梯度为 0；为 0 时加上 e⁰ = 1
    """
    args = of_sizes(make, G=2, R=2, T=3, S=5, H=4, d=3)
    for level in ([-_INF] * 4, [-_INF, 0.0, -_INF, 1.0], [0.0] * 4):
        sink = make.keep(torch.tensor(level), grad=True)
        for window in (None, 2):
            make.call("sink_attention", *args, sink, window)


def edge_windows(make):
    """windows of 1, 2, as long as the past, and longer than everything

    窗口为 1、2、与过去等长、比全部还长
    """
    for T, S in ((4, 4), (3, 8), (1, 5)):
        args = of_sizes(make, G=1, R=2, H=2, T=T, S=S, d=3)
        for window in (1, 2, 3, S - 1, S, S + 4):
            make.call("sink_attention", *args, make.argument("sink"), window)


def edge_fewer_keys_than_queries(make):
    """S < T raises ValueError

    S < T 时抛 ValueError
    """
    for T, S in ((5, 2), (2, 1)):
        q, k, v = make.normal(1, 2, T, 3), make.normal(1, 1, S, 3), make.normal(1, 1, S, 3)
        for window in (None, 1):
            make.raises(ValueError, "sink_attention", q, k, v, make.normal(2), window)
