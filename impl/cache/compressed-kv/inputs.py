"""Ragged tails, no block at all, odd and even widths, gates that decide and gates that do not."""

from __future__ import annotations

import torch

AXES = {
    "kv": "B S D",
    "gate": "B S D",
    "bias": "m D",
    "compress_kv.return": "B n C",
    "block_visible.return": "T n",
}
SIZES = {
    "B": (1, 2),
    "S": (1, 13, 150),
    "m": (1, 4),
    "D": (1, 5, 70),
    "half": (1, 3, 40),
    "T": (1, 6, 70),
    "n": (0, 5, 40),
}
PROFILES = {"stable": ["ordinary"]}


def case(make):
    if make.pick([False, False, True]):
        make.call("block_visible", *make.sizes("T", "n", "m"), start=make.pick([0, 1, 2, 5, 13]))
        return
    compress(make, make.flag())


def compress(make, overlap, scale=2.0):
    if overlap:
        make.hold(D=2 * make.size("half"))
    m = make.size("m")
    make.call(
        "compress_kv", make.argument("kv"), *(make.argument(x, scale=scale) for x in ("gate", "bias")), m, overlap
    )


def stable(make):
    """Gates of ±200: one token of a block gets all the weight."""
    compress(make, make.flag(), 70.0)


def edge_fewer_tokens_than_a_block(make):
    """S < m: no block; S = m: one; a ragged tail is left out

    S < m：没有块；S = m：一块；凑不满的尾部舍去
    """
    for S, m in ((2, 3), (3, 3), (7, 3), (1, 1), (8, 4)):
        make.hold(B=2, S=S, m=m, D=4)
        for overlap in (False, True):
            args = make.arguments("kv", "gate", "bias")
            make.call("compress_kv", *args, m, overlap)


def edge_constant_values(make):
    """constant values survive, block 0 included; equal gates give the mean

    值为常数时保持不变，第 0 块也一样；gate 全相等就是求平均
    """
    make.hold(B=1, S=9, m=3, D=4)
    constant, zero = make.keep(torch.full((1, 9, 4), 1.5), grad=True), make.keep(torch.zeros(1, 9, 4), grad=True)
    none = make.keep(torch.zeros(3, 4), grad=True)
    for overlap in (False, True):
        make.call("compress_kv", constant, make.argument("gate"), make.argument("bias"), 3, overlap)
        make.call("compress_kv", make.argument("kv"), zero, none, 3, overlap)


def edge_gates_far_apart(make):
    """gates of ±200 where the bias decides: no overflow, no underflow where all are low

    gate 达 ±200，由 bias 决定大小：不能上溢；整块都很低时也不能下溢
    """
    gate = torch.tensor(
        [[200.0, -200.0], [200.0, -200.5], [-200.0, 0.0], [-200.0, 200.0], [-199.0, -200.0], [-200.0, -200.0]]
    )
    bias = torch.tensor([[0.0, 1.0], [2.0, -1.0]])
    for overlap in (False, True):
        args = make.normal(1, 6, 2), make.keep(gate[None], grad=True), make.keep(bias, grad=True)
        make.call("compress_kv", *args, 2, overlap)


def edge_blocks_of_one_token(make):
    """m = 1: every token is its own block, and overlap mixes it with the one before

    m = 1：每个 token 自成一块，overlap 时与前一个混合
    """
    make.hold(B=2, S=4, m=1, D=6)
    for overlap in (False, True):
        make.call("compress_kv", *make.arguments("kv", "gate", "bias"), 1, overlap)


def edge_the_last_token_of_a_block(make):
    """the query at a block's last token sees it, the one before does not; decoding from a start; n = 0

    位于块的最后一个 token 的 query 看得到这块，前一个看不到；从 start 开始解码；n = 0
    """
    for T, n, m, start in (
        (9, 3, 3, 0),
        (3, 3, 4, 3),
        (1, 2, 4, 7),
        (1, 2, 4, 6),
        (4, 0, 2, 0),
        (5, 9, 1, 2),
        (2, 2, 5, 0),
    ):
        make.call("block_visible", T, n, m, start)
