"""Lengths from 0 to S, and one to three masks of every broadcastable shape."""

from __future__ import annotations

import torch

AXES = {
    "lengths": "B",
    "padding_mask.return": "B ... S",
    **{f"combine_masks.{mask}": "... B H T S" for mask in ("masks", "argument 1", "argument 2", "argument 3")},
    "combine_masks.return": "... B H T S",
}
SIZES = {"B": (1, 4, 40), "H": (1, 3), "T": (1, 5), "S": (1, 7, 300)}
GRADIENTS = False


def case(make):
    B, H, T, S = make.sizes("B", "H", "T", "S")
    padding = make.call("padding_mask", make.integers(0, S + 1, B), S)
    others = [make.mask_over(B, H, T, S) for _ in range(make.pick([1, 2, 0, 3]))]
    make.call("combine_masks", *others[:1], padding, *others[1:])


def edge_lengths_nought_and_whole(make):
    """length 0 hides every key, length S none; all lengths shorter than S; one key

    长度 0 全部挡住，长度 S 一个不挡；所有长度都小于 S；只有一个 key
    """
    for lengths, S in (([0, 4, 1, 3], 4), ([0], 3), ([5], 5), ([2, 1], 9), ([1, 0], 1), ([0, 0], 2), ([3, 3, 3], 3)):
        make.call("padding_mask", torch.tensor(lengths), S)


def edge_one_mask(make):
    """a single mask of any rank comes back equal

    只有一个掩码，不管几维：结果与它相等
    """
    for shape in ((2, 1, 1, 5), (4, 5), (3,), (2, 3, 4, 5)):
        make.call("combine_masks", make.mask(*shape))


def edge_padding_with_causal(make):
    """padding and the causal triangle, in both orders, over a cached past as well, and with a third mask

    padding 掩码和因果三角，两种顺序都试，还有带缓存的过去，以及第三个掩码
    """
    padding = make.call("padding_mask", torch.tensor([5, 2, 0]), 5)
    for T in (5, 2):
        causal = torch.ones(T, 5, dtype=torch.bool).tril(5 - T)
        make.call("combine_masks", padding, causal)
        make.call("combine_masks", causal, padding)
        make.call("combine_masks", causal, padding, make.mask(3, 2, T, 5))
