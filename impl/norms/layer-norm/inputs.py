"""Tokens of every rank and width, gains and shifts away from 1 and 0, eps that matters, means that dwarf the spread."""

from __future__ import annotations

import torch

AXES = {"x": "... D", "gamma": "D", "beta": "D", "return": "... D"}
FLOAT32_INSIDE = True  # 16-bit results are float32 results, rounded once
OFFSET = 1e4  # mean 10⁴ against a spread of 1: E[x²] − E[x]² has no digit left in float32
TOLERANCE_STABLE = {"float32": 5e-3}


def affine(make, D):
    """Gains in 0.5 … 2 and shifts in −1 … 1, whatever the profile does to x."""
    gamma = 0.5 + 1.5 * torch.rand(D, generator=make.random, dtype=torch.float64)
    beta = 2.0 * torch.rand(D, generator=make.random, dtype=torch.float64) - 1.0
    return make.keep(gamma, grad=True), make.keep(beta, grad=True)


def case(make):
    sizes = (make.size(1, 3), make.size(1, 4), make.size(1, 3))
    D = make.size(1, 9)
    lead = sizes[: make.pick([2, 1, 0, 3])]
    x = make.normal(*lead, D, scale=make.pick([1.0, 3.0, 0.05]), mean=make.pick([0.0, 2.0]))
    gamma, beta = affine(make, D)
    style = make.pick(["plain", "eps", "keyword"])
    if style == "plain":
        make.call("layer_norm", x, gamma, beta)
    elif style == "eps":
        make.call("layer_norm", x, gamma, beta, make.pick([1e-3, 1e-5, 0.5, 1e-6]))
    else:
        make.call("layer_norm", x, gamma, beta, eps=make.pick([1e-2, 1e-5, 1.0]))


def stable(make):
    """Widths up to 60: mean 10⁴ and spread 1, or a spread of 60."""
    B, T, D = make.size(1, 2), make.size(1, 4), make.size(2, 60)
    make.call("layer_norm", make.normal(B, T, D), *affine(make, D))


def edge_width_one(make):
    """D = 1: nothing is left but the shift

    D = 1：只剩下平移 β
    """
    make.call("layer_norm", make.normal(3, 1), *affine(make, 1))


def edge_one_token(make):
    """a single vector without leading dimensions

    单个向量，没有前导维度
    """
    make.call("layer_norm", make.normal(5), *affine(make, 5))


def edge_constant_rows(make):
    """a constant row has variance 0: eps keeps it finite, the result is the shift

    常数行的方差为 0：靠 ε 保持有限，输出就是 β
    """
    x = torch.tensor([[2.0, 2.0, 2.0, 2.0], [1.0, -1.0, 0.5, 0.25], [0.0, 0.0, 0.0, 0.0]])
    make.call("layer_norm", make.keep(x, grad=True), *affine(make, 4))


def edge_tiny_spread(make):
    """spread 10⁻³ with eps 10⁻⁵: eps is larger than the variance and has to be inside the root

    离散程度 10⁻³，ε 为 10⁻⁵：ε 比方差还大，必须在根号里面
    """
    make.call("layer_norm", make.normal(3, 8, scale=1e-3), *affine(make, 8))
    make.call("layer_norm", make.normal(3, 8, scale=1e-3), *affine(make, 8), 1e-8)


def edge_large_eps(make):
    """eps = 1 and eps = 0.1 are used as given

    eps = 1 和 eps = 0.1：传多少用多少
    """
    x = make.normal(2, 3, 6)
    gamma, beta = affine(make, 6)
    make.call("layer_norm", x, gamma, beta, 1.0)
    make.call("layer_norm", x, gamma, beta, eps=0.1)
    make.call("layer_norm", x, gamma, beta)


def edge_two_features(make):
    """D = 2, where the biased and the unbiased variance differ by a factor of two

    D = 2：有偏方差和无偏方差相差一倍
    """
    make.call("layer_norm", make.normal(4, 2), *affine(make, 2))


def edge_square(make):
    """as many tokens as features, as many items as tokens: only the last dimension counts

    token 数等于特征数，样本数等于 token 数：只在最后一维上统计
    """
    make.call("layer_norm", make.normal(4, 4, 4), *affine(make, 4))


def edge_float16_squares_overflow(make):
    """float16 values near 2·10⁴: their squares do not fit into float16

    float16 的值在 2·10⁴ 左右：平方超出 float16 的范围
    """
    x = torch.tensor([[20000.0, -20000.0, 19008.0, 1.0], [20000.0, 19984.0, 20016.0, 20032.0]]).half()
    gamma, beta = torch.tensor([1.0, 0.5, 2.0, 1.5]).half(), torch.tensor([0.0, 0.25, -1.0, 0.5]).half()
    make.call("layer_norm", *[make.keep(t, dtype="fixed") for t in (x, gamma, beta)])


def edge_bfloat16_far_from_zero(make):
    """bfloat16 values around 1000: their mean is no bfloat16 number

    bfloat16 的值在 1000 左右：均值无法用 bfloat16 表示
    """
    x = torch.tensor([[1000.0, 1004.0, 1008.0, 996.0, 1000.0], [1000.0, 1000.0, 1004.0, 1000.0, 1000.0]]).bfloat16()
    gamma, beta = torch.ones(5).bfloat16(), torch.zeros(5).bfloat16()
    make.call("layer_norm", *[make.keep(t, dtype="fixed") for t in (x, gamma, beta)])


def edge_rows_far_apart(make):
    """one row around +10⁴, its neighbours around −10⁴ and 0: a shift common to all rows does not help

    一行在 +10⁴ 附近，旁边的在 −10⁴ 和 0 附近：所有行减同一个数没有用
    """
    level = torch.tensor([[0.0], [1e4], [-1e4], [3.0]], dtype=torch.float64)
    make.call("layer_norm", make.keep(level + make.normal(4, 6, grad=False)), *affine(make, 6))


def edge_one_feature_alone(make):
    """one vector of one feature: the shift, in memory of its own

    一个向量、一个特征：输出就是 β，并且有自己的内存
    """
    make.call("layer_norm", make.normal(1), *affine(make, 1))


def edge_six_dimensions(make):
    """five leading dimensions

    五个前导维度
    """
    make.call("layer_norm", make.normal(2, 3, 1, 2, 2, 4), *affine(make, 4))


def edge_wide_rows_with_a_spike(make):
    """192 features, one of them far out: it ends up at 13 standard deviations, and that is right

    192 个特征，其中一个偏得很远：归一化之后在 13 个标准差处，这是对的
    """
    x = make.normal(2, 192)
    x = x.detach().clone()
    x[0, 150], x[1, 3] = 60.0, -60.0
    make.call("layer_norm", make.keep(x, grad=True), *affine(make, 192))
    far = make.normal(3, 130, grad=False) + 1e3 * torch.tensor([[1.0], [-1.0], [0.0]])
    make.call("layer_norm", make.keep(far), *affine(make, 130))


def edge_many_tokens(make):
    """150 tokens

    150 个 token
    """
    make.call("layer_norm", make.normal(1, 150, 5), *affine(make, 5))


def edge_dimensions_in_another_order(make):
    """a view whose features lie far apart in memory, and its tokens too

    一个视图：特征在内存里相隔很远，token 也是
    """
    x = make.keep(make.normal(4, 2, 3, 5).permute(1, 2, 0, 3).transpose(0, 1), grad=True)
    make.call("layer_norm", x, *affine(make, 5))
    make.call("layer_norm", make.keep(make.normal(6, 4).t(), grad=True), *affine(make, 6))


def edge_two_calls(make):
    """two calls of equal shape do not meet

    形状相同的两次调用互不影响
    """
    make.call("layer_norm", make.normal(2, 3, 4), *affine(make, 4))
    make.call("layer_norm", make.normal(2, 3, 4), *affine(make, 4))
