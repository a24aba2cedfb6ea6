"""Bit patterns: ties, carries, both kinds of zero, NaNs with payloads, and every upper half of a float32 there is."""

from __future__ import annotations

import torch

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIXTEEN_BITS = "technique"

_BOTH = ("round_to_bf16", "round_to_fp16")
_SHAPES = [(), (1,), (5,), (2, 3), (3, 1, 2), (2, 2, 2, 2)]


def pattern(make, bits):
    """Float32 values with these bits."""
    bits = torch.as_tensor(bits, dtype=torch.int64)
    return make.keep(torch.where(bits >= 2**31, bits - 2**32, bits).to(torch.int32).view(torch.float32), dtype="fixed")


def both(make, x, names=_BOTH):
    for name in names:
        make.exact(make.call(name, x))


def random_bits(make, shape):
    kind = make.pick(["half range", "anything", "ties", "near overflow", "near nothing", "special"])
    sign = make.integers(0, 2, *shape) << 31
    low = make.integers(0, 2**23, *shape)
    if kind == "anything":
        return sign | make.integers(0, 2**31, *shape)
    if kind == "special":
        choices = torch.tensor([0, 1, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x7F800001, 0x7F7FFFFF, 0x00800000])
        return sign | choices[make.integers(0, 8, *shape)]
    low_exponent, high_exponent = {
        "half range": (100, 145),
        "near overflow": (140, 144),
        "near nothing": (100, 114),
    }.get(kind, (98, 144))
    if kind == "ties":  # a single bit below a few kept ones
        low = make.integers(0, 2**6, *shape) << make.integers(8, 18, *shape)
    return sign | (make.integers(low_exponent, high_exponent, *shape) << 23) | (low & 0x7FFFFF)


def case(make):
    shape = make.pick(_SHAPES)
    both(make, pattern(make, random_bits(make, shape)))
    if make.flag():
        both(
            make,
            make.keep(torch.randn(shape, generator=make.random) * make.pick([1.0, 1e-5, 3e4, 1e-7]), dtype="fixed"),
        )


def edge_ordinary_numbers(make):
    """0.1, π, −2/3 and whole numbers

    0.1、π、−2/3 和整数
    """
    both(make, make.keep(torch.tensor([0.1, 3.14159265, -2 / 3, 1.0, -7.0, 257.0, 2049.0, 1e-3]), dtype="fixed"))


def edge_bf16_ties(make):
    """exactly half way between two bfloat16 numbers: the even one wins

    恰好在两个 bfloat16 数正中间：取偶
    """
    both(make, pattern(make, [0x3F808000, 0x3F818000, 0xBF808000, 0xBF818000, 0x3F807FFF, 0x3F808001, 0x3F818001]))


def edge_fp16_ties(make):
    """exactly half way between two float16 numbers: the even one wins

    恰好在两个 float16 数正中间：取偶
    """
    both(make, pattern(make, [0x3F801000, 0x3F803000, 0xBF801000, 0xBF803000, 0x3F800FFF, 0x3F801001, 0x3F803001]))


def edge_zeros(make):
    """+0 and −0 keep their sign, and so does what is rounded to zero

    +0、−0 的符号不变，舍入到零的数也保留符号
    """
    both(make, pattern(make, [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x32000000, 0xB2000000]))


def edge_infinities(make):
    """±inf stay what they are

    ±inf 保持不变
    """
    both(make, pattern(make, [0x7F800000, 0xFF800000]))


def edge_nan(make):
    """a NaN stays a NaN, whatever its payload and sign

    NaN 始终是 NaN，无论它的 payload 和符号是什么
    """
    both(make, pattern(make, [0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF800001, 0x7F80FFFF, 0x7FBFFFFF]))


def edge_carry_into_the_exponent(make):
    """all kept bits are 1: rounding up gives the next power of two

    保留的位全是 1：向上舍入得到下一个 2 的幂
    """
    both(make, pattern(make, [0x3FFFFFFF, 0xBFFFFFFF, 0x3FFF8000, 0x3FFFF000, 0x477FFFFF, 0x007FFFFF, 0x007F8000]))


def edge_bf16_overflow(make):
    """the largest float32 becomes inf in bfloat16; just below half a step it does not

    最大的 float32 在 bfloat16 里变成 inf；超出最大数不到半步的则不会
    """
    both(make, pattern(make, [0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F8000, 0x7F7F7FFF, 0x7F7F0000, 0xFF7F7FFF]))


def edge_fp16_overflow(make):
    """65504 is the largest float16; 65519.996 still rounds to it, 65520 is inf

    float16 最大是 65504；65519.996 仍舍入到它，65520 变成 inf
    """
    values = [65504.0, 65519.996, 65520.0, 65535.0, 65536.0, 1e5, 65505.0]
    both(make, make.keep(torch.tensor([*values, *(-v for v in values), 3e38]), dtype="fixed"))


def edge_fp16_subnormals(make):
    """below 2⁻¹⁴ the step of float16 is 2⁻²⁴

    小于 2⁻¹⁴ 时，float16 的步长是 2⁻²⁴
    """
    values = [2.0**-24, 2.0**-14, 2.0**-15, 1.5 * 2.0**-24, 2.5 * 2.0**-24, 3.5 * 2.0**-24, 6.1e-5, 1e-7, 3.7e-6]
    both(make, make.keep(torch.tensor([*values, *(-v for v in values)]), dtype="fixed"))


def edge_fp16_smallest(make):
    """around 2⁻²⁵, half of the smallest float16: the tie goes to zero, anything more up to 2⁻²⁴

    2⁻²⁵ 附近，即最小 float16 的一半：平局归零，再大一点就进到 2⁻²⁴
    """
    both(
        make,
        pattern(make, [0x33000000, 0x33000001, 0x32FFFFFF, 0x33800000, 0x33C00000, 0x33BFFFFF, 0x33C00001, 0xB3000001]),
    )


def edge_fp16_subnormal_becomes_normal(make):
    """just below 2⁻¹⁴: rounded up to the smallest normal number, or not

    略小于 2⁻¹⁴：有的向上舍入到最小规格化数，有的不会
    """
    both(
        make,
        pattern(make, [0x387FFFFF, 0x387FE000, 0x387FDFFF, 0x387FE001, 0x387FC000, 0xB87FF000, 0x38800000, 0x38801000]),
    )


def edge_float32_subnormals(make):
    """subnormal float32 numbers: bfloat16 keeps their upper bits, float16 has nothing as small

    float32 的次正规数：bfloat16 保留高位，float16 没有这么小的数
    """
    both(make, pattern(make, [0x00018000, 0x00008000, 0x00008001, 0x00007FFF, 0x00400001, 0x80017FFF, 0x807FFFFF]))


def edge_twice_rounded(make):
    """only just below the tie: no rounding in two steps

    略低于平局点，只差一点点：不许分两步舍入
    """
    both(
        make,
        pattern(make, [0x3F807FFF, 0x3F80FFFF, 0x3F800FFF, 0x3F801001, 0x3F808FFF, 0x3F818FFF, 0x33000001, 0x387FE001]),
    )


def edge_every_upper_half(make):
    """all 65,536 upper halves of a float32, with lower halves at, above and below every tie

    float32 高 16 位的全部 65,536 种取值，低 16 位取在每个平局点及其两侧
    """
    upper = torch.arange(2**16)[:, None] << 16
    lower = torch.tensor([0x0000, 0x8000, 0x7FFF, 0x8001])
    both(make, pattern(make, upper | lower), _BOTH[:1])
    lower = torch.tensor([0x0000, 0x1000, 0x0001, 0x3001, 0xFFFF])
    both(make, pattern(make, upper | lower), _BOTH[1:])
