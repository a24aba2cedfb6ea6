"""Loads on, above and below their mean, in whole and in floating numbers; idle experts, idle batches."""

from __future__ import annotations

import torch

AXES = {"bias": "E", "counts": "E", "return": "E"}
SIZES = {"E": (1, 6, 300)}
GRADIENTS = False
WITHOUT_GRAPH = ("bias", "counts")
WITHOUT_MOTIFS = {"same"}  # a bias does not count tokens
HARDENED = {
    *("edge_counts_beyond_float32", "edge_counts_in_float64"),
    *("edge_counts_in_sixteen_bits", "edge_step_in_sixteen_bits"),
}
# In float32 alone: code that writes counts.float() has γ in float32, too.
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "edge-cases")}
_DTYPES = (torch.int64, torch.float32, torch.int32)


def loads(make, E):
    """Few different numbers, so that some meet their mean; quarters in floating dtypes."""
    dtype = make.pick(_DTYPES)
    drawn = make.integers(0, make.pick([4, 9, 100, 2]), E)
    drawn[0] += make.pick([0, 1]) * (-int(drawn.sum()) % E)  # the mean may be a whole number
    return make.keep(drawn.to(dtype) / 4 if dtype.is_floating_point else drawn.to(dtype), dtype="fixed")


def case(make):
    """One update, or several in turn: each bias is the next one's."""
    E, gamma = make.size("E"), make.pick([1e-3, 0.1, 0.0, 2.0])
    bias = make.argument("bias", scale=make.pick([0.01, 1.0]))
    for _ in range(1 if make.dtype.itemsize == 2 else make.pick([1, 3])):
        bias = make.call("update_bias", bias, loads(make, E), gamma)


def edge_on_the_mean(make):
    """an expert on the mean stays; all equal, all idle or a single expert: nothing moves

    负载恰好等于均值的专家不动；全都相等、全都为 0、只有一个专家：谁也不动
    """
    for counts in ([3, 5, 4], [7, 7, 7, 7], [0, 0, 0], [9]):
        make.call("update_bias", make.normal(len(counts)), torch.tensor(counts), 0.5)


def edge_idle_experts(make):
    """idle experts count in the mean; one expert has it all; a mean between two whole numbers

    闲置的专家也算进均值；一个专家独占所有 token；均值落在两个整数之间
    """
    for counts in ([0, 0, 4, 6], [0, 0, 0, 12], [2, 3], [1, 2, 2], [0, 5, 5, 5]):
        make.call("update_bias", make.normal(len(counts)), torch.tensor(counts), 0.25)


def edge_far_from_the_mean(make):
    """the step is γ however far off the load is, and however large the bias: nothing is clipped

    负载偏离多少，步长都是 γ；bias 多大都不截断
    """
    for size in (1.0, 40.0):
        make.call("update_bias", make.normal(4, scale=size), torch.tensor([1000, 999, 0, 1]), 0.01)


def edge_counts_beyond_float32(make):
    """equal counts above 2²⁴, which float32 rounds, move nothing; counts one apart do

    计数超过 2²⁴，float32 会舍入：相等时不动，只差 1 时要动
    """
    for counts in ([2**24 + 1] * 3, [2**25 + 1, 2**25 - 1, 2**25], [2**30 + 1, 2**30]):
        make.call("update_bias", make.normal(len(counts)), torch.tensor(counts), 0.5)


def edge_counts_in_float64(make):
    """float64 counts, in quarters: the result keeps the dtype of the bias

    计数是 float64（可以是 ¼ 的倍数）：结果的 dtype 与 bias 相同
    """
    for counts in ([2.25, 0.0, 3.0, 3.75], [1.5, 1.5]):
        counts = make.keep(torch.tensor(counts, dtype=torch.float64), dtype="fixed")
        make.call("update_bias", make.normal(len(counts)), counts, 0.5)


def edge_counts_in_sixteen_bits(make):
    """float16 and bfloat16 counts, whose sum overflows or is rounded

    计数是 float16、bfloat16：求和会溢出或被舍入
    """
    for counts, dtype in (([40000, 30000, 35008], torch.float16), ([256, 1, 1, 2], torch.bfloat16)):
        make.call(
            "update_bias", make.normal(len(counts)), make.keep(torch.tensor(counts).to(dtype), dtype="fixed"), 0.5
        )


def edge_step_in_sixteen_bits(make):
    """a bias in 16 bits: γ = 0.1 is not rounded to 16 bits first

    bias 是 16 位：γ = 0.1 不能先舍入到 16 位
    """
    for dtype in (torch.bfloat16, torch.float16):
        bias = make.normal(64, grad=False).to(dtype)
        make.call("update_bias", make.keep(bias, dtype="fixed"), torch.arange(64), 0.1)
