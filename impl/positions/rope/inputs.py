"""Both layouts, positions per batch item or shared, unsorted and repeated, and bases that are not 10 000."""

from __future__ import annotations

import torch

AXES = {"x": "B H T d", "positions": "... B T", "return": "B H T d"}

# Angles in float32 are good enough for float64 inputs too, so gradients are compared in float32, and float64 values
# within what float32 angles can reach at the small positions drawn here.
SIXTEEN_BITS = "native"
PROFILES = {"gradients": ["ordinary"], "edge-cases": ["ordinary"], "stable": ["large"]}
TOLERANCE = {"float64": 2e-5, "bfloat16": 0.06, "float16": 0.008}

# In `stable` it is the positions that are large: float32 angles near 10⁴ are right to about 1e-3.
LARGE = 1.0
TOLERANCE_STABLE = {"float32": 5e-3}

_LAYOUTS = ["interleaved", "half"]


def positions_for(make, B, T, high):
    start = make.size(0, high)
    kind = make.pick(["shared", "per item", "in order", "repeated"])
    if kind == "shared":
        return make.integers(0, high, T)
    if kind == "in order":
        return torch.arange(start, start + T)
    if kind == "repeated":
        return make.integers(0, high, B, 1).expand(B, T).contiguous()
    return make.integers(0, high, B, T)


def case(make):
    B, H, T, d = make.size(1, 3), make.size(1, 4), make.size(1, 5), 2 * make.size(1, 4)
    x = make.normal(B, H, T, d)
    if make.profile == "float64" and make.flag():
        at_position_zero(make, x, T)
        return
    if make.profile == "meta":
        for layout in _LAYOUTS:
            make.call("apply_rope", x, make.integers(0, 20, T), layout=layout)
            make.call("apply_rope", x, make.integers(0, 20, B, T), layout=layout)
        return
    positions = positions_for(make, B, T, 20)
    style = make.pick(["plain", "base", "layout", "keywords"])
    if style == "plain":
        make.call("apply_rope", x, positions)
    elif style == "base":
        make.call("apply_rope", x, positions, make.pick([500000.0, 100.0, 10000.0, 7.5]))
    elif style == "layout":
        make.call("apply_rope", x, positions, layout=make.pick(_LAYOUTS))
    else:
        make.call("apply_rope", x, positions, base=make.pick([10000.0, 1e6, 50.0]), layout=make.pick(_LAYOUTS))


def at_position_zero(make, x, T):
    for layout in _LAYOUTS:
        make.call("apply_rope", x, torch.zeros(T, dtype=torch.long), 10000.0, layout)
    make.property(lambda outcomes: unchanged(outcomes, x.detach()))


def unchanged(outcomes, x):
    if all(torch.equal(outcome.detach(), x) for outcome in outcomes):
        return None
    return (
        "position 0 must leave x exactly as it is, digit for digit",
        "位置 0 必须让 x 原样不变，一位都不差",
    )


def stable(make):
    """Positions around 10⁴ at width 64, and around 10⁵ where a float32 angle still holds them."""
    T, layout = make.size(1, 4), make.pick(_LAYOUTS)
    d, start = make.pick([(64, 10_000), (64, 4_097), (4, 100_000), (2, 131_071)])
    x = make.normal(1, 2, T, d)
    make.call("apply_rope", x, make.integers(start, start + 100, T), layout=layout)


def edge_first_pair(make):
    """one pair, position 1: a turn by one radian, counter-clockwise

    只有一对，位置 1：逆时针转 1 弧度
    """
    x = make.keep(torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]]), grad=True)
    for layout in _LAYOUTS:
        make.call("apply_rope", x, torch.tensor([1, 1]), layout=layout)


def edge_position_zero(make):
    """position 0 leaves every bit of x alone

    位置 0 让 x 逐位原样不变
    """
    at_position_zero(make, make.normal(2, 3, 4, 6), 4)


def edge_float64_at_position_zero(make):
    """float64 input at position 0: none of its digits is lost on the way through float32

    float64 输入，位置 0：不能因为经过 float32 而丢掉任何一位
    """
    x = make.keep(torch.randn(1, 2, 3, 6, generator=make.random, dtype=torch.float64), dtype="fixed")
    at_position_zero(make, x, 3)


def edge_one_token(make):
    """one token at position 11

    单个 token，在位置 11
    """
    for layout in _LAYOUTS:
        make.call("apply_rope", make.normal(1, 1, 1, 8), torch.tensor([11]), layout=layout)


def edge_one_token_at_the_start(make):
    """one token at position 0: the values of x, in memory of its own

    单个 token，在位置 0：数值与 x 相同，但有自己的内存
    """
    x = make.normal(2, 3, 1, 6)
    for layout in _LAYOUTS:
        make.call("apply_rope", x, torch.tensor([0]), layout=layout)
        make.call("apply_rope", x, torch.tensor([[0], [0]]), layout=layout)
        make.call("apply_rope", x, torch.tensor([[0], [7]]), layout=layout)


def edge_many_wide_heads(make):
    """nine heads of width 130

    九个头，每个宽 130
    """
    x = make.normal(2, 9, 3, 130)
    make.call("apply_rope", x, torch.tensor([[3, 0, 9], [1, 20, 2]]), 500.0)
    make.call("apply_rope", x, torch.tensor([5, 6, 7]), layout="half")


def edge_many_tokens(make):
    """150 tokens, in order and from the last to the first

    150 个 token，正序和倒序
    """
    x = make.normal(1, 2, 150, 4, scale=0.5)
    make.call("apply_rope", x, torch.arange(150))
    make.call("apply_rope", x, torch.arange(149, -1, -1)[None], layout="half")


def edge_positions_per_item(make):
    """every item of the batch has positions of its own, as in batched decoding

    每条序列的位置各不相同，像批量解码时那样
    """
    x = make.normal(3, 2, 4, 6)
    positions = torch.tensor([[0, 1, 2, 3], [7, 8, 9, 10], [0, 0, 1, 2]])
    for layout in _LAYOUTS:
        make.call("apply_rope", x, positions, layout=layout)


def edge_as_many_heads_as_tokens(make):
    """B = H = T: positions belong to the tokens, not to the heads

    B = H = T：位置对应 token，而不是头
    """
    x = make.normal(3, 3, 3, 4)
    make.call("apply_rope", x, torch.tensor([4, 0, 9]))
    make.call("apply_rope", x, torch.tensor([[4, 0, 9], [1, 2, 3], [8, 8, 2]]))


def edge_unsorted_and_repeated(make):
    """positions in any order, repeated, with gaps

    位置乱序、重复、有间隔
    """
    x = make.normal(2, 2, 6, 8)
    positions = torch.tensor([5, 2, 2, 19, 0, 5])
    for layout in _LAYOUTS:
        make.call("apply_rope", x, positions, layout=layout)


def edge_two_turns(make):
    """turning twice is turning once by the sum

    转两次等于转一次角度之和
    """
    x = make.normal(1, 2, 3, 6)
    for layout in _LAYOUTS:
        once = make.call("apply_rope", x, torch.tensor([3, 5, 0]), layout=layout)
        make.call("apply_rope", once, torch.tensor([4, 1, 9]), layout=layout)


def edge_other_base(make):
    """the base is an argument

    base 是参数，不能写死
    """
    x = make.normal(1, 2, 3, 8)
    positions = torch.tensor([3, 9, 14])
    for base in (100.0, 500000.0, 2.0):
        make.call("apply_rope", x, positions, base)


def edge_bfloat16_far_out(make):
    """bfloat16 input at positions above 256, which bfloat16 itself cannot tell apart

    bfloat16 输入，位置超过 256，bfloat16 自己分不清
    """
    x = make.keep(torch.tensor([1.0, -0.5, 0.25, 2.0]).bfloat16().expand(1, 1, 5, 4).clone(), dtype="fixed")
    positions = torch.tensor([257, 258, 1001, 4099, 10007])
    for layout in _LAYOUTS:
        make.call("apply_rope", x, positions, layout=layout)


def edge_float16_far_out(make):
    """float16 input at positions that float16 cannot tell apart, or cannot hold at all

    float16 输入，位置是 float16 分不清、甚至存不下的
    """
    x = make.keep(torch.tensor([1.0, -0.5, 0.25, 2.0]).half().expand(1, 1, 4, 4).clone(), dtype="fixed")
    for layout in _LAYOUTS:
        make.call("apply_rope", x, torch.tensor([2049, 4099, 10007, 70001]), layout=layout)


def edge_heads_cut_out_of_a_projection(make):
    """heads as a view of (B, T, H, d), and one row of positions expanded over the batch

    头是 (B, T, H, d) 的视图，一行位置 expand 到整个 batch
    """
    x = make.keep(make.normal(2, 4, 3, 6).transpose(1, 2), grad=True)
    for layout in _LAYOUTS:
        make.call("apply_rope", x, torch.tensor([5, 2, 8, 0]).expand(2, 4), layout=layout)


def edge_two_calls(make):
    """calls with other positions, bases and layouts do not meet

    位置、base、layout 不同的几次调用互不影响
    """
    x = make.normal(2, 2, 3, 4)
    make.call("apply_rope", x, torch.tensor([1, 2, 3]))
    make.call("apply_rope", x, torch.tensor([7, 8, 9]))
    make.call("apply_rope", x, torch.tensor([7, 8, 9]), 100.0)
    make.call("apply_rope", x, torch.tensor([7, 8, 9]), layout="half")
    make.call("apply_rope", x, torch.tensor([1, 2, 3]))
