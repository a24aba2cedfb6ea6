"""Weights of every rank with one scale or many; codes and decoded values must be within half a step."""

from __future__ import annotations

import torch

SIZES = {"n": (1, 6, 200)}
GRADIENTS = False
SIXTEEN_BITS = "technique"  # `hardened` says it: scales stay in float32


def case(make):
    shape = (*make.lead(), make.size("n"))
    axis = make.pick([None, *(range(len(shape)) if len(shape) > 1 else ())])
    scale, mean = make.pick([1.0, 0.02, 30.0]), make.pick([0.0, 3.0, -5.0])
    there_and_back(make, make.normal(*shape, scale=scale, mean=mean * scale), axis, make.flag())
    codes, steps = make.integers(-128, 128, *shape), make.uniform(*(1 for _ in shape), low=0.01)
    make.call("dequantize", codes.to(torch.int8), steps, make.integers(-128, 128, *steps.shape).to(torch.int32))


def there_and_back(make, w, axis, symmetric):
    coded = make.call("quantize_int8", w, axis, symmetric)
    back = make.call("dequantize", coded[0], coded[1], coded[2])
    make.judge(faithful(w.detach(), axis, symmetric), coded, back)


def faithful(w, axis, symmetric):
    """Return a check of the codes of `w` and of their decoded values."""
    x = w.double()
    reduced = [dim for dim in range(x.dim()) if dim != axis]
    low, high = x.amin(reduced, keepdim=True).clamp(max=0), x.amax(reduced, keepdim=True).clamp(min=0)
    step = torch.maximum(-low, high) / 127 if symmetric else (high - low) / 255
    step = torch.where(step == 0, 1.0, step)

    def holds(coded, back):
        q, scale, zero = coded
        due = torch.zeros_like(step) if symmetric else -128 - low / step
        yield first((scale - step).abs() > 1e-5 * step, "scale", scale, step)
        yield first((zero - due).abs() > (0.0 if symmetric else 0.501), "zero", zero, due)
        yield first(q < (-127 if symmetric else -128), "q", q, due)
        decoded = (q.double() - zero.double()) * scale.double()
        yield near("(q − zero)·scale", decoded, x, step)
        yield near("dequantize", back.double(), x, step)

    return holds


def first(wrong, name, got, due):
    if not bool(wrong.any()):
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    mine, other = float(got[at]), float(due.expand(got.shape)[at])
    return (
        f"{name}{list(at)} is {mine:.6g}, expected {other:.6g}",
        f"{name}{list(at)} 为 {mine:.6g}，应为 {other:.6g}",
    )


def near(name, got, x, step):
    """Half a step of rounding, and nothing at 0."""
    wrong = ~((got - x).abs() <= 0.501 * step) | (x == 0) & (got != 0)
    return first(wrong, f"{name}: w", got, x)


def edge_zeros(make):
    """slices of zeros: scale 1, and zeros come back

    全零的切片：scale 为 1，还原出来还是 0
    """
    for symmetric in (True, False):
        there_and_back(make, make.keep(torch.zeros(3, 4)), None, symmetric)
        there_and_back(make, make.keep(torch.tensor([[0.0, 0.0, 0.0], [1.0, -2.0, 0.0]])), 0, symmetric)


def edge_one_side_of_zero(make):
    """constant rows and rows all above or below 0: the range includes 0

    常数行，以及全在 0 一侧的行：范围要包含 0
    """
    rows = torch.tensor([[3.7] * 4, [-3.7] * 4, [5.0, 6.0, 7.0, 0.0], [-5.0, -6.0, -7.5, -9.0]])
    for axis, symmetric in ((0, True), (0, False), (1, False), (None, False)):
        there_and_back(make, make.keep(rows), axis, symmetric)


def edge_half_way_zero_point(make):
    """a zero point half way between two integers: the largest number is clamped to 127, not wrapped to −128

    零点恰好落在两个整数正中间：最大的数截断到 127，不能绕回 −128
    """
    for low, high in ((-129.5, 125.5), (-127.5, 127.5), (-128.5, 126.5), (-3.5, 251.5)):
        there_and_back(make, make.keep(torch.tensor([low, high, 0.0, 1.0, -2.0])), None, False)


def edge_one_outlier(make):
    """one number at 50 standard deviations, the largest one negative

    一个 50 倍标准差的离群值，而且是负的
    """
    w = make.normal(4, 64, grad=False)
    w[2, 7] = -50.0
    for axis in (None, 0, 1):
        there_and_back(make, w, axis, True)
        there_and_back(make, w, axis, False)
