"""Bit patterns: ties, carries, both kinds of zero, NaNs with payloads, and every upper half of a float32 there is."""

from __future__ import annotations

import torch

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIXTEEN_BITS = "technique"
LEAD = (0, 4)

_BOTH = ("round_to_bf16", "round_to_fp16")
_EXPONENTS = {"half range": (100, 145), "near overflow": (140, 144), "near nothing": (100, 114), "ties": (98, 144)}
_SPECIAL = torch.tensor([0, 1, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x7F800001, 0x7F7FFFFF, 0x00800000])


def patterns(make, bits, names=_BOTH):
    """Float32 values with these bits."""
    bits = torch.as_tensor(bits, dtype=torch.int64)
    given(make, torch.where(bits >= 2**31, bits - 2**32, bits).to(torch.int32).view(torch.float32), names)


def given(make, values, names=_BOTH):
    x = make.keep(torch.as_tensor(values), dtype="fixed")
    for name in names:
        make.exact(make.call(name, x))


def case(make):
    shape = make.lead()
    kind = make.pick([*_EXPONENTS, "anything", "special", "normal"])
    sign, low = make.integers(0, 2, *shape) << 31, make.integers(0, 2**23, *shape)
    if kind == "normal":
        given(make, torch.randn(shape, generator=make.random) * make.pick([1.0, 1e-5, 3e4, 1e-7]))
    elif kind == "anything":
        patterns(make, sign | make.integers(0, 2**31, *shape))
    elif kind == "special":
        patterns(make, sign | _SPECIAL[make.integers(0, 8, *shape)])
    else:
        if kind == "ties":  # a single bit below a few kept ones
            low = make.integers(0, 2**6, *shape) << make.integers(8, 18, *shape)
        patterns(make, sign | (make.integers(*_EXPONENTS[kind], *shape) << 23) | (low & 0x7FFFFF))


def edge_ordinary_numbers(make):
    """0.1, π, −2/3 and whole numbers

    0.1、π、−2/3 和整数
    """
    given(make, [0.1, 3.14159265, -2 / 3, 1.0, -7.0, 257.0, 2049.0, 1e-3])


def edge_ties(make):
    """exactly half way between two bfloat16 or float16 numbers the even one wins; just beside it the nearer one

    恰好在两个 bfloat16（或 float16）数正中间：取偶；略偏一点就取近的
    """
    patterns(make, [0x3F808000, 0x3F818000, 0xBF808000, 0xBF818000, 0x3F807FFF, 0x3F808001, 0x3F818001])
    patterns(make, [0x3F801000, 0x3F803000, 0xBF801000, 0xBF803000, 0x3F800FFF, 0x3F801001, 0x3F803001])
    patterns(make, [0x3F807FFF, 0x3F80FFFF, 0x3F808FFF, 0x3F818FFF, 0x33000001, 0x387FE001])


def edge_zeros_and_infinities(make):
    """±0 and ±inf stay what they are, and what is rounded to zero keeps its sign

    ±0、±inf 保持不变，舍入到零的数也保留符号
    """
    patterns(make, [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x32000000, 0xB2000000, 0x7F800000, 0xFF800000])


def edge_nan(make):
    """a NaN stays a NaN, whatever its payload and sign

    NaN 始终是 NaN，无论它的 payload 和符号是什么
    """
    patterns(make, [0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF800001, 0x7F80FFFF, 0x7FBFFFFF])


def edge_carry_into_the_exponent(make):
    """all kept bits are 1: rounding up gives the next power of two

    保留的位全是 1：向上舍入得到下一个 2 的幂
    """
    patterns(make, [0x3FFFFFFF, 0xBFFFFFFF, 0x3FFF8000, 0x3FFFF000, 0x477FFFFF, 0x007FFFFF, 0x007F8000])


def edge_overflow(make):
    """half a step beyond the largest number is inf, anything less is not: 65519.996 is 65504, 65520 is inf in float16

    超出最大数半步就是 inf，不到半步则不是：float16 里 65519.996 舍入到 65504，65520 变成 inf
    """
    patterns(make, [0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x7F7F0000, 0xFF7F7FFF])
    values = [65504.0, 65519.996, 65520.0, 65535.0, 65536.0, 1e5, 65505.0]
    given(make, [*values, *(-v for v in values), 3e38])


def edge_subnormals(make):
    """below 2⁻¹⁴ the step of float16 is 2⁻²⁴, and bfloat16 keeps the upper bits of subnormal float32 numbers

    小于 2⁻¹⁴ 时 float16 的步长是 2⁻²⁴；float32 的次正规数，bfloat16 保留高位
    """
    values = [2.0**-24, 2.0**-14, 2.0**-15, 1.5 * 2.0**-24, 2.5 * 2.0**-24, 3.5 * 2.0**-24, 6.1e-5, 1e-7, 3.7e-6]
    given(make, [*values, *(-v for v in values)])
    patterns(make, [0x33000000, 0x33000001, 0x32FFFFFF, 0x33800000, 0x33C00000, 0x33BFFFFF, 0x33C00001, 0xB3000001])
    patterns(make, [0x387FFFFF, 0x387FE000, 0x387FDFFF, 0x387FE001, 0x387FC000, 0xB87FF000, 0x38800000, 0x38801000])
    patterns(make, [0x00018000, 0x00008000, 0x00008001, 0x00007FFF, 0x00400001, 0x80017FFF, 0x807FFFFF])


def edge_every_upper_half(make):
    """all 65,536 upper halves of a float32, with lower halves at, above and below every tie

    float32 高 16 位的全部 65,536 种取值，低 16 位取在每个平局点及其两侧
    """
    upper = torch.arange(2**16)[:, None] << 16
    patterns(make, upper | torch.tensor([0x0000, 0x8000, 0x7FFF, 0x8001]), _BOTH[:1])
    patterns(make, upper | torch.tensor([0x0000, 0x1000, 0x0001, 0x3001, 0xFFFF]), _BOTH[1:])
