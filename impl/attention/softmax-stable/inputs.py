"""Slices of every rank and every dimension, with −inf sprinkled in, up to |x| = 1e4."""

from __future__ import annotations

import torch

PROFILES = {"stable": ["ordinary", "float64"]}


def logits(make, *shape, scale=1.0):
    """Normal values; now and then some entries, or a whole slice, are −inf."""
    x = make.normal(*shape, scale=scale)
    kind = make.pick(["plain", "some", "all"])
    if kind == "plain":
        return x
    keep = torch.ones(shape, dtype=torch.bool)
    if kind == "some":
        keep = make.mask(*shape, keep=0.6)
    else:
        keep[..., 0] = False
        keep.reshape(-1, shape[-1])[0] = False
    return make.keep(x.masked_fill(~keep, float("-inf")), grad=True)


def case(make):
    sizes = [make.size(1, 7), make.size(1, 5), make.size(1, 3), make.size(1, 3)]
    rank = make.pick([2, 1, 3, 4])
    shape = sizes[:rank]
    dim = make.pick(list(range(-1, -rank - 1, -1)) + list(range(rank)))
    x = logits(make, *shape, scale=make.pick([1.0, 4.0]))
    if make.flag():
        make.call("softmax", x, dim)
    elif make.flag():
        make.call("softmax", x, dim=dim)
    else:
        make.call("softmax", x)


def stable(make):
    """Logits up to ±1e4: slices that lie far from zero, far from each other, and single spikes."""
    rows, n = make.size(2, 5), make.size(1, 7)
    level = make.pick([1e4, -1e4, 200.0, -200.0, 90.0])
    x = torch.full((rows, n), level * 0.999, dtype=torch.float64)
    x[0] = -x[0]
    x = x + make.normal(rows, n, grad=False).double().clamp(-5.0, 5.0)
    if make.flag():
        x[-1, 0] = level
    dim = make.pick([-1, 0, 1])
    make.call("softmax", make.keep(x, grad=True), dim)


def edge_one_entry(make):
    """a slice of length 1 is always 1, whatever its logit

    切片长度为 1：不管 logit 多大，结果都是 1
    """
    make.call("softmax", make.normal(4, 1))
    make.call("softmax", make.normal(1, 3), 0)
    make.call("softmax", make.normal(1))


def edge_huge_logits(make):
    """±1e4 in one slice

    同一个切片里有 ±1e4
    """
    x = torch.tensor([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4], [9999.0, 1e4, 9998.5], [-1e4, -9999.0, -9999.5]])
    make.call("softmax", make.keep(x, grad=True))
    make.call("softmax", make.keep(x.t().contiguous(), grad=True), 0)


def edge_rows_far_apart(make):
    """one slice at +1e4, its neighbour at −1e4: one maximum for all does not help

    一个切片在 +1e4，旁边的在 −1e4：所有切片减同一个最大值没有用
    """
    x = torch.tensor([[1e4, 9999.0, 9998.0], [-1e4, -9999.0, -9998.0], [0.5, -0.25, 1.5]])
    make.call("softmax", make.keep(x, grad=True), -1)


def edge_some_minus_infinity(make):
    """−inf entries get exactly 0

    −inf 的位置恰好是 0
    """
    gone = float("-inf")
    x = torch.tensor(
        [[0.5, gone, 1.25, gone], [gone, gone, gone, -3.0], [gone, 2.0, 2.0, 1e4], [-1e4, gone, -9999.5, gone]]
    )
    make.call("softmax", make.keep(x, grad=True))


def edge_all_minus_infinity(make):
    """a slice of nothing but −inf gives zeros and a zero gradient, its neighbours stay right

    全是 −inf 的切片输出全 0、梯度为 0，旁边的切片照样要对
    """
    gone = float("-inf")
    x = torch.tensor([[gone, gone, gone], [0.0, 1.0, gone], [gone, gone, gone], [-2.0, 0.5, 0.25]])
    make.call("softmax", make.keep(x, grad=True))
    make.call("softmax", make.keep(x.t().contiguous(), grad=True), dim=0)
    make.call("softmax", make.keep(torch.full((3,), gone), grad=True))
    make.call("softmax", make.keep(torch.tensor([[gone], [0.5]]), grad=True))


def edge_middle_dimension(make):
    """the dimension in the middle of four

    四维张量，沿中间的维度
    """
    x = make.normal(2, 5, 3, 4)
    make.call("softmax", x, 1)
    make.call("softmax", x, -2)
    make.call("softmax", x, 0)


def edge_tiny_probabilities(make):
    """probabilities near 1e-8 and 1e-30 are not rounded up or down to something convenient

    1e-8、1e-30 左右的概率照实给出，不许图方便往大或往小凑
    """
    x = torch.tensor([[0.0, -18.5, -40.0, -69.0], [0.0, -1.0, -80.0, -85.0]])
    make.call("softmax", make.keep(x, grad=True))


def edge_bfloat16(make):
    """bfloat16 in, float32 inside, bfloat16 out

    输入 bfloat16，内部 float32，输出 bfloat16
    """
    x = make.keep(
        torch.tensor([[8.0, -3.03125, 7.9375, 5.28125, 7.0625], [300.0, 299.0, 301.0, 298.0, 200.0]]).bfloat16(),
        dtype="fixed",
    )
    make.call("softmax", x)
    make.call("softmax", make.keep(torch.linspace(-4.0, 4.0, 301).bfloat16(), dtype="fixed"))


def edge_float16(make):
    """float16 in, float32 inside, float16 out; the spread of the logits exceeds what float16 holds

    输入 float16，内部 float32，输出 float16；logits 的跨度超出 float16 的范围
    """
    x = make.keep(torch.tensor([[60000.0, -60000.0, 59968.0], [9.0, -2.5078125, 8.0078125]]).half(), dtype="fixed")
    make.call("softmax", x)


def edge_five_dimensions(make):
    """each of five dimensions, from the front and from the back

    五维张量，每一维都试，正着数、倒着数
    """
    x = make.normal(2, 3, 1, 4, 2)
    for dim in (0, 1, 2, 3, -5, -3, -1):
        make.call("softmax", x, dim)


def edge_long_slices(make):
    """130 entries, the largest by far in the second half, some −inf; and 67 of them in one dimension

    130 个元素，最大值在后半段且遥遥领先，有些是 −inf；另有一维的 67 个
    """
    x = make.normal(130, 3).masked_fill(~make.mask(130, 3, keep=0.8), float("-inf"))
    x[100] = 150.0
    x[129, 1] = 151.0
    x[:, 2] = x[:, 2] - 9000.0
    make.call("softmax", make.keep(x.t(), grad=True))
    make.call("softmax", make.keep(x, grad=True), 0)
    make.call("softmax", make.normal(67))


def edge_dimensions_in_another_order(make):
    """views with their dimensions swapped: no neighbours in the shape are neighbours in memory

    维度换过顺序的视图：形状里相邻的，内存里都不相邻
    """
    x, y = make.normal(4, 3, 5).transpose(0, 1), make.normal(2, 5, 3, 4).permute(2, 0, 3, 1)
    for dim in (-1, 0, 1):
        make.call("softmax", make.keep(x, grad=True), dim)
        make.call("softmax", make.keep(y, grad=True), dim)


def edge_two_calls(make):
    """two calls of equal shape do not meet, whatever the rank

    形状相同的两次调用互不影响，几维都一样
    """
    for shape in ((5,), (3, 5), (2, 3, 5), (2, 1, 3, 5)):
        make.call("softmax", make.normal(*shape))
        make.call("softmax", make.normal(*shape))
