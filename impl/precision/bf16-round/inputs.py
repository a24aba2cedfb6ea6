"""Bit patterns: ties, carries, both zeros, NaNs with payloads, and every upper half of a float32."""

from __future__ import annotations

import torch

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIXTEEN_BITS = "technique"
LEAD = (0, 4)

_BOTH = ("round_to_bf16", "round_to_fp16")
_SPECIAL = torch.tensor([0, 1, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x7F800001, 0x7F7FFFFF, 0x00800000])


def patterns(make, bits, names=_BOTH):
    """Float32 values with these bits."""
    x = make.keep(bits.to(torch.int32).view(torch.float32), dtype="fixed")
    for name in names:
        make.exact(make.call(name, x))


def both_signs(make, *bits):
    plus = torch.tensor(bits)
    patterns(make, torch.cat([plus, plus | 1 << 31]))


def case(make):
    shape = make.lead()
    exponents = make.pick([(100, 145), (140, 144), (100, 114), (98, 144), "anything", "special", "normal"])
    sign, low = make.integers(0, 2, *shape) << 31, make.integers(0, 2**23, *shape)
    if exponents == "normal":
        scale = make.pick([1.0, 1e-5, 3e4, 1e-7])
        patterns(make, (scale * torch.randn(shape, generator=make.random)).view(torch.int32))
    elif exponents == "anything":
        patterns(make, sign | make.integers(0, 2**31, *shape))
    elif exponents == "special":
        patterns(make, sign | _SPECIAL[make.integers(0, 8, *shape)])
    else:
        if exponents == (98, 144):  # ties: a single bit below a few kept ones
            low = make.integers(0, 2**6, *shape) << make.integers(8, 18, *shape)
        patterns(make, sign | (make.integers(*exponents, *shape) << 23) | (low & 0x7FFFFF))


def edge_ties(make):
    """exactly half way the even number, just beside it the nearer one

    恰好在正中间取偶，略偏一点就取近的
    """
    both_signs(make, 0x3F808000, 0x3F818000, 0x3F807FFF, 0x3F808001, 0x3F818001, 0x3F80FFFF, 0x3F808FFF, 0x3F818FFF)
    both_signs(make, 0x3F801000, 0x3F803000, 0x3F800FFF, 0x3F801001, 0x3F803001, 0x33000001, 0x387FE001)


def edge_zeros_and_infinities(make):
    """numbers that need no rounding stay, in a new tensor; numbers rounded to zero keep their sign

    不需要舍入的数值不变，但返回新张量；舍入到零的数保留符号
    """
    both_signs(make, 0, 0x3F800000, 0x7F800000)
    both_signs(make, 0, 1, 0x32000000, 0x7F800000)


def edge_nan(make):
    """a NaN stays NaN, whatever its payload and sign

    NaN 始终是 NaN，无论 payload 和符号
    """
    both_signs(make, 0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0x7F80FFFF, 0x7FBFFFFF)


def edge_carry_into_the_exponent(make):
    """all kept bits are 1: rounding up gives the next power of two

    保留的位全是 1：向上舍入得到下一个 2 的幂
    """
    both_signs(make, 0x3FFFFFFF, 0x3FFF8000, 0x3FFFF000, 0x477FFFFF, 0x007FFFFF, 0x007F8000)


def edge_overflow(make):
    """inf from half a step beyond the largest number on: in float16 65519.996 is 65504, 65520 is inf

    超出最大数半步起才是 inf：float16 里 65519.996 得 65504，65520 得 inf
    """
    both_signs(make, 0x7F7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x7F7F0000)
    both_signs(make, *torch.tensor([65504, 65505, 65519.996, 65520, 65535, 65536, 1e5]).view(torch.int32).tolist())


def edge_subnormals(make):
    """below 2⁻¹⁴ the step of float16 is 2⁻²⁴; bfloat16 keeps the upper bits of subnormal float32 numbers

    小于 2⁻¹⁴ 时 float16 的步长是 2⁻²⁴；float32 的次正规数，bfloat16 保留高位
    """
    both_signs(make, 0x33000000, 0x33000001, 0x32FFFFFF, 0x33800000, 0x33C00000, 0x33BFFFFF, 0x33C00001, 0x34200000)
    both_signs(make, 0x387FFFFF, 0x387FE000, 0x387FDFFF, 0x387FE001, 0x387FC000, 0x387FF000, 0x38800000, 0x38801000)
    both_signs(make, 0x00018000, 0x00008000, 0x00008001, 0x00007FFF, 0x00400001, 0x00017FFF, 0x007FFFFF, 0x34600000)


def edge_every_upper_half(make):
    """all 65,536 upper halves of a float32, lower halves at and beside every tie

    float32 高 16 位的全部 65,536 种取值，低 16 位取在平局点及其两侧
    """
    upper = torch.arange(2**16)[:, None] << 16
    patterns(make, upper | torch.tensor([0x0000, 0x8000, 0x7FFF, 0x8001]), _BOTH[:1])
    patterns(make, upper | torch.tensor([0x0000, 0x1000, 0x0001, 0x3001, 0xFFFF]), _BOTH[1:])
