"""One split and many, lses near and far apart, splits that saw no key, queries of which none did."""

from __future__ import annotations

import torch

AXES = {"outs": "N ... d", "lses": "N ...", "return[0]": "... d", "return[1]": "..."}
SIZES = {"N": (1, 5, 60), "d": (1, 6, 65)}
HARDENED = {"edge_nothing_seen"}


def case(make):
    outs, lses = (
        make.argument("outs"),
        make.argument("lses", scale=make.pick([1.0, 4.0, 0.1]), mean=make.pick([0.0, 5.0])),
    )
    make.call("merge_partials", outs, lses)


def drawn(make, lses, grad=True, d=3):
    lses = torch.as_tensor(lses)
    make.call("merge_partials", make.normal(*lses.shape, d), make.keep(lses, grad=grad))


def edge_lses_far_apart(make):
    """lses of ±200 and ±10⁴, or all near −1000, at very different levels per query

    lse 为 ±200、±10⁴，或全在 −1000 附近；各 query 的水平差得很远
    """
    drawn(make, [[200.0, -200.0, 1e4], [199.0, -201.0, 9999.0], [-200.0, -199.5, -1e4]])
    drawn(make, [[-1000.0, -1001.5], [-1000.5, -999.0]])
    drawn(make, [[-3000.0, 5.0, 800.0], [-3001.0, 4.0, 801.0]])


def edge_equal_splits(make):
    """N equal splits: the same output, an lse higher by log N

    N 个相同的段：输出不变，lse 多 log N
    """
    for N in (1, 2, 7):
        out, lse = make.normal(2, 3, grad=False), make.normal(2, grad=False)
        make.call("merge_partials", make.keep(out.repeat(N, 1, 1), grad=True), make.keep(lse.repeat(N, 1), grad=True))


def edge_empty_splits(make):
    """a split without keys has lse −inf, and its output has no influence, first or last

    没有 key 的段 lse 为 −inf，它的输出不得影响结果，不管在最前还是最后
    """
    inf = torch.inf
    for lses in (
        [[-inf, 0.5, 1.0], [0.3, -inf, 2.0], [1.0, 1.5, -inf]],
        [[-inf] * 2, [-5000.0, 3.0]],
        [[4.0, -90.0], [-inf, -inf]],
        [[-inf, -1e4], [-1e4, -inf]],
    ):
        lses = torch.tensor(lses)
        outs = torch.randn(*lses.shape, 3, generator=make.random).masked_fill(lses.isneginf()[..., None], 777.0)
        make.call("merge_partials", make.keep(outs, grad=True), make.keep(lses, grad=True))


def edge_nothing_seen(make):
    """all splits empty: out is 0, lse −inf; other queries are not touched

    所有段都是空的：out 为 0，lse 为 −inf；别的 query 不受影响
    """
    inf = torch.inf
    for lses in ([[-inf, 1.0], [-inf, 2.0]], [[-inf]], [-inf, -inf, -inf]):
        lses = torch.tensor(lses)
        make.call("merge_partials", make.normal(*lses.shape, 3, grad=False), make.keep(lses))


def edge_dtypes_that_differ(make):
    """16-bit outs with float32 lses: each result keeps its dtype, weights have float32's digits

    outs 是 16 位，lses 是 float32：两个结果各自保持 dtype，权重按 float32 计算
    """
    for dtype in (torch.bfloat16, torch.float16):
        outs = torch.randn(9, 2, 4, generator=make.random).to(dtype)
        lses = 3 * torch.randn(9, 2, generator=make.random) + 1 / 3
        make.call("merge_partials", make.keep(outs, dtype="fixed"), make.keep(lses, dtype="fixed"))
