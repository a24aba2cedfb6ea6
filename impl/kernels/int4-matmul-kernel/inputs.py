"""Groups that end within a tile, all bytes, zero points above and below the codes, sizes that leave a rest."""

from __future__ import annotations

import torch

AXES = {"x": "M K", "packed": "N P", "scales": "N C", "zeros": "N C", "return": "M N"}
SIZES = {"M": (1, 5), "N": (1, 6), "half": (1, 4), "C": (1, 3)}
DERIVED = {"P": "half * C", "K": "2 * half * C"}
GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"], "low-precision": ["fp16"]}
HARDENED = {"edge_long_sums_in_16_bits"}


def weight(make, N, K, group):
    """Any bytes, scales that differ by orders of magnitude, any zero points."""
    packed = make.keep(make.integers(0, 256, N, K // 2).to(torch.uint8))
    scales = make.uniform(N, K // group, low=0.02, high=2.0, grad=False)
    return packed, scales, make.keep(make.integers(0, 16, N, K // group).to(torch.uint8))


def drawn(make, M, N, K, group):
    make.call("int4_matmul", make.normal(M, K, grad=False), *weight(make, N, K, group), group)


def case(make):
    N, K, half = make.sizes("N", "K", "half")
    make.call("int4_matmul", make.argument("x", grad=False), *weight(make, N, K, 2 * half), 2 * half)


def edge_several_blocks(make):
    """several blocks on every axis, the last ones ragged; groups that end within a block

    每一维都有好几块，最后一块不满；组的边界落在块的中间
    """
    drawn(make, 35, 70, 150, 50)
    drawn(make, 70, 3, 12, 6)
    drawn(make, 2, 140, 66, 22)


def edge_group_lengths(make):
    """groups of 2, of a power of two, of one more than that, one for a whole row

    一组 2 个、2 的幂个、比它多 2 个，或整行一组
    """
    for K, group in ((64, 2), (96, 32), (102, 34), (130, 130), (2, 2)):
        drawn(make, 3, 4, K, group)


def edge_every_byte(make):
    """all 256 bytes with zero points from 0 to 15, times the identity

    全部 256 种字节，零点从 0 到 15，乘单位矩阵
    """
    packed = torch.arange(256).reshape(16, 16).to(torch.uint8)
    zeros = torch.stack([torch.arange(16), 15 - torch.arange(16)], dim=1).to(torch.uint8)
    scales = torch.tensor([1.0, 0.5]).expand(16, 2).contiguous()
    make.call("int4_matmul", make.keep(torch.eye(32)), make.keep(packed), make.keep(scales), make.keep(zeros), 16)


def edge_long_sums_in_16_bits(make):
    """float16, 1,024 products that add up

    float16，1024 个乘积相加
    """
    x = torch.linspace(0.5, 1.0, 2 * 1024).reshape(2, 1024).half()
    packed = (torch.arange(3 * 512) % 200 + 56).reshape(3, 512).to(torch.uint8)
    scales = torch.linspace(0.01, 0.03, 3 * 16).reshape(3, 16).half()
    zeros = (torch.arange(3 * 16) % 3).reshape(3, 16).to(torch.uint8)
    make.call("int4_matmul", *(make.keep(t, dtype="fixed") for t in (x, packed, scales, zeros)), 64)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "real": {"size": 8192, "en": "a matrix of 8192 × 8192", "zh": "8192 × 8192 的矩阵"},
        "case": lambda make, K: drawn(make, 2, K, K, 16),
        "sizes": (32, 64, 128),
        "bound": lambda K: K * K / 2,
        "growth_at_most": 1.1,
        "says": {"en": "a weight of N·K numbers is in memory", "zh": "显存里出现了 N·K 个数的完整权重"},
    }
]
