"""Tokens and routers whose scores are well apart, so that no choice hangs on a rounding."""

from __future__ import annotations

import torch

AXES = {"x": "N D", "wg": "D E", "bias": "E", "return[0]": "N k", "return[1]": "N k", "return[2]": "N E"}
_MODES = ["softmax_topk", "topk_softmax", "sigmoid_bias"]


def apart(make, N, D, E, spread=0.25):
    """x (N, D) and wg (D, E), rounded to the dtype of the case, of which two experts differ by 0.05 or more."""
    while True:
        x = torch.randn((N, D), generator=make.random, dtype=torch.float64)
        x[:, 0] = 1.0
        wg = torch.randn((D, E), generator=make.random, dtype=torch.float64) / 2
        wg[0] = torch.randperm(E, generator=make.random).double() * spread - 0.125 * E
        scores = (x.to(make.dtype).double() @ wg.to(make.dtype).double()).sort(dim=-1).values
        if E == 1 or bool((scores.diff(dim=-1) > 0.05).all()):
            return make.keep(x, grad=True), make.keep(wg, grad=True)
        spread += 0.25


def off_grid(make, E):
    """A bias that changes choices and leaves sums of sigmoid and bias apart."""
    return torch.randperm(E, generator=make.random).double() * 2.0 - E


def case(make):
    N, D, E = make.size(1, 5), make.size(2, 5), make.size(1, 7)
    k = min(E, make.size(1, 4))
    mode = make.pick(_MODES)
    x, wg = apart(make, N, D, E)
    bias = make.keep(off_grid(make, E), grad=True) if make.flag() else None
    if bias is None and make.flag():
        make.call("route", x, wg, k, mode)
    else:
        make.call("route", x, wg, k, mode, bias)


def edge_one_expert(make):
    """one expert: it gets every token

    只有一个专家：所有 token 都归它
    """
    for mode in _MODES:
        make.call("route", *apart(make, 3, 2, 1), 1, mode)


def edge_top_one(make):
    """k = 1: softmax_topk keeps the raw probability, and its gradient

    k = 1：softmax_topk 保留原始概率，也保留它的梯度
    """
    for mode in _MODES:
        make.call("route", *apart(make, 4, 3, 5), 1, mode)


def edge_all_experts(make):
    """k = E: everybody is chosen, in the order of the scores

    k = E：全部选中，按分数从高到低排列
    """
    for mode in _MODES:
        make.call("route", *apart(make, 3, 4, 4), 4, mode)


def edge_one_token(make):
    """a single token

    只有一个 token
    """
    for mode in _MODES:
        make.call("route", *apart(make, 1, 3, 6), 2, mode)


def edge_as_many_tokens_as_experts(make):
    """N = E: a softmax over the wrong dimension keeps its shape

    N = E：softmax 做错了维度，形状也照样对
    """
    for mode in _MODES:
        make.call("route", *apart(make, 5, 3, 5), 2, mode)


def edge_bias_selects_only(make):
    """a large bias forces the choice, a small one tips it; the weights are left to the sigmoids, and it gets no gradient

    bias 大则强制选中，小则左右胜负；权重只由 sigmoid 决定，bias 没有梯度
    """
    x, wg = apart(make, 4, 3, 6)
    bias = make.keep(torch.tensor([9.0, -9.0, 5.0, 1.0, -5.0, -2.0]), grad=True)
    for mode in reversed(_MODES):
        make.call("route", x, wg, 3, mode, bias)
    x, wg = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.5, 0.25, 0.0, -0.25], [0.25, 0.5, -0.25, 0.0]])
    bias = make.keep(torch.tensor([0.0, 0.125, 0.25, 0.0625]), grad=True)
    make.call("route", make.keep(x, grad=True), make.keep(wg, grad=True), 2, "sigmoid_bias", bias)


def edge_many_experts(make):
    """9 of 40 experts for two tokens, and 2 of 5 for 24 tokens

    两个 token，从 40 个专家里选 9 个；24 个 token，从 5 个里选 2 个
    """
    for tokens, experts, k in ((2, 40, 9), (24, 5, 2)):
        x = make.keep(2.0 * torch.eye(tokens), grad=True)
        wg = torch.stack([torch.randperm(experts, generator=make.random) for _ in range(tokens)]) * 0.05 - 1.0
        bias = make.keep(torch.arange(experts) % 3.0, grad=True)  # whole numbers: no two sums of sigmoid and bias meet
        for mode in _MODES:
            make.call("route", x, make.keep(wg, grad=True), k, mode, bias)


def edge_large_logits(make):
    """logits around ±200, and ±50 in one row: no softmax overflows

    logits 在 ±200 附近，有一行是 ±50：softmax 都不能溢出
    """
    x = make.keep(torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), grad=True)
    rows = [[190.0, 200.0, 150.0], [-200.0, -150.0, -190.0], [50.0, -50.0, 10.0]]
    wg = make.keep(torch.tensor(rows), grad=True)
    for mode in _MODES[:2]:
        make.call("route", x, wg, 2, mode)


def edge_logits_far_apart(make):
    """topk_softmax with logits 200 and more apart: where every probability but one is 0, the logits still choose

    topk_softmax，logits 相差 200 以上：除一个之外概率全是 0，仍按 logits 选
    """
    x = make.keep(torch.eye(4), grad=True)
    wg = torch.tensor(
        [
            [-150.0, -200.0, 200.0, 0.0],
            [200.0, -190.0, -180.0, 20.0],
            [-200.0, -100.0, 30.0, 190.0],
            [-10.0, 200.0, 60.0, -60.0],
        ]
    )
    make.call("route", x, make.keep(wg, grad=True), 2, "topk_softmax")


def edge_bfloat16_close_logits(make):
    """bfloat16 logits that differ by less than a bfloat16 step: float32 tells them apart

    bfloat16 输入，logits 相差不到 bfloat16 的一步：float32 能分清
    """
    x = make.keep(torch.tensor([[1.0, 1.0]]).bfloat16(), dtype="fixed")
    wg = make.keep(torch.tensor([[8.0, 8.0, 8.0], [0.0078125, 0.015625, 0.0]]).bfloat16(), dtype="fixed")
    for mode in ("softmax_topk", "topk_softmax"):
        make.call("route", x, wg, 2, mode)


def edge_bfloat16_bias(make):
    """bfloat16 and a bias of 256: added in bfloat16, every score would be 256

    bfloat16，bias 为 256：若用 bfloat16 相加，所有分数都成了 256
    """
    x = make.keep(torch.tensor([[1.0]]).bfloat16(), dtype="fixed")
    wg = make.keep(torch.tensor([[-0.5, 0.25, -1.0, 1.0]]).bfloat16(), dtype="fixed")
    make.call("route", x, wg, 2, "sigmoid_bias", make.keep(torch.full((4,), 256.0).bfloat16(), dtype="fixed"))


def edge_unknown_mode(make):
    """another mode raises ValueError

    其他模式名抛出 ValueError
    """
    for mode in ("argmax", "softmax", "sigmoid", "topk", ""):
        make.raises(ValueError, "route", *apart(make, 2, 2, 3), 1, mode)


def edge_two_calls(make):
    """two calls of equal shape do not meet

    形状相同的两次调用互不影响
    """
    for mode in ("softmax_topk", "softmax_topk"):
        make.call("route", *apart(make, 3, 3, 4), 2, mode)
