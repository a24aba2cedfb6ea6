"""Scores well apart, so that no choice depends on rounding."""

from __future__ import annotations

import torch

AXES = {"x": "N D", "wg": "D E", "bias": "E", "return[0]": "N k", "return[1]": "N k", "return[2]": "N E"}
SIZES = {"N": (1, 5, 24), "D": (1, 5), "E": (1, 7)}
_MODES = ["softmax_topk", "topk_softmax", "sigmoid_bias"]


def apart(make, N, D, E, spread=0.25):
    """x and wg in the case's dtype, the scores of any two experts of a token 0.05 apart or more."""
    while True:
        x = torch.randn((N, D), generator=make.random, dtype=torch.float64)
        x[:, 0] = 1.0
        wg = torch.randn((D, E), generator=make.random, dtype=torch.float64) / 2
        wg[0] = torch.randperm(E, generator=make.random).double() * spread - 0.125 * E
        scores = (x.to(make.dtype).double() @ wg.to(make.dtype).double()).sort(dim=-1).values
        if bool((scores.diff(dim=-1) > 0.05).all()):
            return make.keep(x, grad=True), make.keep(wg, grad=True)
        spread += 0.25


def case(make):
    mode, k, biased = make.pick(_MODES), make.pick([2, 1, 4, 99]), make.flag()
    N, D, E = make.sizes("N", "D", "E")
    bias = torch.randperm(E, generator=make.random).double() * 2.0 - E  # sums of sigmoid and bias stay apart
    make.call("route", *apart(make, N, D, E), min(k, E), mode, bias=make.keep(bias, grad=True) if biased else None)


def tokens(make, logits, *arguments):
    """One token for each row of logits."""
    x, wg = torch.eye(len(logits)), torch.as_tensor(logits)
    make.call("route", make.keep(x, grad=True), make.keep(wg, grad=True), *arguments)


def edge_bias_selects_only(make):
    """a large bias forces the choice, a small one decides close ones; it affects no weight and gets no gradient

    bias 大则强制选中，小则决定接近的名次；它不进权重，也没有梯度
    """
    x, wg = apart(make, 4, 3, 6)
    bias = make.keep(torch.tensor([9.0, -9.0, 5.0, 1.0, -5.0, -2.0]), grad=True)
    for mode in reversed(_MODES):
        make.call("route", x, wg, 3, mode, bias)
    bias = make.keep(torch.tensor([0.0, 0.125, 0.25, 0.0625]), grad=True)
    tokens(make, [[0.5, 0.25, 0.0, -0.25], [0.25, 0.5, -0.25, 0.0]], 2, "sigmoid_bias", bias)


def edge_many_experts(make):
    """9 of 40 experts for 2 tokens, 2 of 5 for 24

    2 个 token，40 个专家选 9 个；24 个 token，5 个选 2 个
    """
    for count, experts, k in ((2, 40, 9), (24, 5, 2)):
        logits = torch.stack([torch.randperm(experts, generator=make.random) for _ in range(count)]) * 0.1 - 2.0
        bias = make.keep(torch.arange(experts) % 3.0, grad=True)  # whole numbers: no two sums of sigmoid and bias meet
        for mode in _MODES:
            tokens(make, logits, k, mode, bias)


def edge_large_logits(make):
    """logits around ±200: no overflow; where all probabilities but one are 0, topk_softmax goes by logits

    logits 在 ±200 附近：不能溢出；除一个之外概率全是 0 时，topk_softmax 仍按 logits 选
    """
    near = [[190.0, 200.0, 150.0], [-200.0, -150.0, -190.0], [50.0, -50.0, 10.0]]
    apart = [[-150.0, -200.0, 200.0, 0.0], [200.0, -190.0, -180.0, 20.0], [-200.0, -100.0, 30.0, 190.0]]
    for logits, mode in ((near, "softmax_topk"), (near, "topk_softmax"), (apart, "topk_softmax")):
        tokens(make, logits, 2, mode)


def edge_bfloat16(make):
    """bfloat16 logits closer than its step; a bias of 256, which would swallow every score

    bfloat16 输入，logits 相差不到它的一步；bias 为 256，直接相加会吞掉所有分数
    """
    for rows, mode in (
        ([[8.0, 8.0, 8.0], [0.0078125, 0.015625, 0.0]], "topk_softmax"),
        ([[-0.5, 0.25, -1.0, 1.0]], "sigmoid_bias"),
    ):
        tensors = torch.ones(1, len(rows)), torch.tensor(rows), torch.full((len(rows[0]),), 256.0)
        x, wg, bias = (make.keep(tensor.bfloat16(), dtype="fixed") for tensor in tensors)
        make.call("route", x, wg, 2, mode, bias)


def edge_unknown_mode(make):
    """another mode raises ValueError

    其他模式名抛出 ValueError
    """
    for mode in ("argmax", "softmax", "sigmoid", "topk", ""):
        make.raises(ValueError, "route", *apart(make, 2, 2, 3), 1, mode)
