"""Bit patterns whose two neighbours are known, and thousands of draws of numbers between them."""

from __future__ import annotations

import torch

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIXTEEN_BITS = "technique"
SIZES = {"n": (1, 6, 300)}
_UP = "rounded away from 0", "向远离 0 的方向舍入"


def case(make):
    """Ordinary numbers, or any bits at all."""
    shape = (*make.lead(), make.size("n"))
    scale = make.pick([1.0, 1e-3, 1e4, 1e-38, "bits", "exact"])
    if isinstance(scale, str):
        bits = make.integers(-(2**31), 2**31, *shape)
        bits = bits & -(2**16) if scale == "exact" else bits
    else:
        bits = (scale * torch.randn(shape, generator=make.random)).view(torch.int32)
    rounded(make, bits, make.generator() if make.flag() and make.profile != "meta" else None)


def rounded(make, bits, *generator):
    """A call, each of whose results is one of the two neighbours."""
    bits = bits.to(torch.int32)
    got = make.call("stochastic_round_bf16", make.keep(bits.view(torch.float32), dtype="fixed"), *generator)
    make.judge(lambda result: neighbour(result, bits), got)
    return got


def neighbour(got, bits):
    mine, x = got.contiguous().view(torch.int32), bits.view(torch.float32)
    down = bits & -(2**16)
    up = torch.where(bits == down, down, down + 2**16)
    wrong = torch.where(x.isnan(), ~got.isnan(), (mine != down) & (mine != up))
    wrong |= x.isinf() & (mine != bits)
    if not bool(wrong.any()):
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    a, b, c = float(x[at]), float(down.view(torch.float32)[at]), float(up.view(torch.float32)[at])
    return (
        f"{a!r} became {float(got[at])!r}, and neither {b!r} nor {c!r}",
        f"{a!r} 变成了 {float(got[at])!r}，应为 {b!r} 或 {c!r}",
    )


def edge_exact(make):
    """numbers of bfloat16 stay, both zeros and both infinities too

    本来就是 bfloat16 的数不变，正负零、正负无穷也一样
    """
    bits = torch.tensor([0, 0x3F800000, 0x3F810000, 0x7F800000, 0x7F7F0000, 0x00010000, 0x00800000, 0x42F70000])
    rounded(make, torch.cat([bits, bits - 2**31]).repeat(50))


def edge_half_a_million_exact_numbers(make):
    """half a million numbers of bfloat16: not one of them moves, however the noise falls

    五十万个本来就是 bfloat16 的数：无论噪声如何，一个都不动
    """
    rounded(make, torch.arange(2**19) % 2**14 * 2**16 + 2**28)


def edge_nan(make):
    """a NaN stays NaN, whatever its payload and sign

    NaN 始终是 NaN，无论 payload 和符号
    """
    bits = torch.tensor([0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0x7F80FFFF, 0x7FBFFFFF])
    rounded(make, torch.cat([bits, bits - 2**31]).repeat(20))


def edge_largest_and_smallest(make):
    """above the largest number the upper neighbour is inf; subnormal numbers are rounded like others

    超过最大数时，上面的邻居是 inf；次正规数照常舍入
    """
    bits = torch.tensor(
        [0x7F7FFFFF, 0x7F7F8000, 0x7F7F0001, 0x00000001, 0x00008000, 0x007FFFFF, 0x0000FFFF, 0x3FFFFFFF]
    )
    rounded(make, torch.cat([bits, bits - 2**31]).repeat(20))


def random(make):
    """Judge many equal numbers: the lower 16 bits give the share that goes up, with independent draws; generators count."""
    low = make.pick([0x4000, 0x8000, 0x1000, 0xC000, 0xF000])
    upper = make.pick([0x3F80, 0xBF81, 0x7F7F, 0x8000, 0xC2F7])
    bits = torch.full((40, 600), (upper << 16 | low) - (2**32 if upper >= 0x8000 else 0))

    def shares(got):
        up = got.view(torch.int32) != (bits & -(2**16)).to(torch.int32)
        yield make.share(up, low / 2**16, *_UP)
        yield make.independent(up, low / 2**16, "batch", "tokens")

    make.judge(shares, rounded(make, bits, make.pick([None, make.generator()])))
    other = make.integers(2**29, 2**30, 30)
    make.repeats(lambda generator: rounded(make, other, generator))
    make.moves_on(lambda generator: rounded(make, other, generator))


def edge_many_numbers(make):
    """thousands of numbers between two neighbours: right on average, each on its own

    几千个落在两个邻居之间的数：平均值正确，每个各自舍入
    """
    for low in (0x0100, 0x2000, 0xA000):
        bits = torch.stack([torch.full((300,), 0x3F800000 + low), torch.full((300,), 0x42F70000 + low - 2**31)]).repeat(
            20, 1
        )
        got = rounded(make, bits)
        make.judge(
            lambda got, low=low, bits=bits: make.share(got.view(torch.int32) != bits - low, low / 2**16, *_UP), got
        )
