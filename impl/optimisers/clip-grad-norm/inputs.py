"""Lists of gradients of several shapes, longer and shorter than the norm allowed, or not finite."""

from __future__ import annotations

import math

import torch

SIZES = {"count": (1, 4, 30), "n": (1, 6, 300)}
GRADIENTS = False
HARDENED = {"edge_not_finite"}


def case(make):
    """Gradients whose norm is below, near or above the bound."""
    shape, scale = (*make.lead(), make.size("n")), make.pick([1.0, 0.01, 30.0, 0.0])
    grads = []
    for k in range(make.size("count")):
        grads.append(make.normal(*(shape if k % 3 else shape[k % len(shape) :]), scale=scale * (1.0, 3.0, 0.1)[k % 3]))
    if make.flag():
        grads.append(make.normal(scale=scale))
    length = math.sqrt(sum(float(g.detach().double().square().sum()) for g in grads))
    clip(make, grads, make.pick([0.3, 1.0, 2.0, 0.999, 1.001]) * (length or 1.0))


def clip(make, grads, max_norm):
    clipped = make.call("clip_grad_norm", grads, max_norm)
    make.dtypes(clipped[1], torch.float32, torch.float64)


def edge_ordinary_bounds(make):
    """bounds of 1 and 5, as in training scripts, and one of 0

    训练脚本里常见的上限 1 和 5，以及 0
    """
    grads = [make.normal(3, 4), make.normal(4, scale=5.0), make.normal()]
    for max_norm in (1.0, 5.0, 100.0, 0.0):
        clip(make, grads, max_norm)


def edge_no_gradient(make):
    """every gradient is 0: total 0, and zeros

    梯度全是 0：总范数 0，返回的还是 0
    """
    clip(make, [make.keep(torch.zeros(2, 3)), make.keep(torch.zeros(()))], 1.0)


def edge_tiny_norms(make):
    """norms around 10⁻⁶, where the 10⁻⁶ of the divisor counts

    范数在 10⁻⁶ 附近，分母里的 10⁻⁶ 起作用
    """
    for size in (1e-5, 1e-6, 1e-7):
        clip(make, [make.normal(3, scale=size), make.normal(2, 2, scale=size)], 1e-6)


def edge_not_finite(make):
    """one inf or NaN among the gradients: the total is inf or NaN, the values stay as they are

    梯度里有一个 inf 或 NaN：总范数如实反映，数值原样返回
    """
    for odd in (math.inf, -math.inf, math.nan):
        spoilt = make.normal(2, 3, grad=False)
        spoilt[1, 0] = odd
        clip(make, [make.normal(4, scale=10.0), make.keep(spoilt)], 1.0)


def edge_one_large_tensor(make):
    """a single tensor holds nearly all of the norm: all are scaled by one factor

    范数几乎全来自一个张量：所有张量乘同一个系数
    """
    clip(make, [make.normal(3, scale=1e4), make.normal(5, scale=1e-3), make.normal(2, 2)], 1.0)


def edge_sixteen_bits(make):
    """float16 gradients of 300 beside float32 ones; 3,000 small ones in bfloat16

    float16 的梯度大到 300，旁边是 float32 的；bfloat16 里 3000 个小梯度
    """
    half, bfloat = torch.float16, torch.bfloat16
    large = make.keep(torch.tensor([300.0, -250.0, 1e-4]).to(half), dtype="fixed")
    beside = make.keep(torch.tensor([1.003, -0.997]), dtype="fixed")
    small = [make.keep((make.normal(1000, grad=False) * 0.01).to(bfloat), dtype="fixed") for _ in range(3)]
    for grads in ([large], [large, beside], small):
        clip(make, grads, 0.125)
