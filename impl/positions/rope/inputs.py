"""Both layouts, positions per batch item or shared, unsorted and repeated, and bases that are not 10 000."""

from __future__ import annotations

import torch

AXES = {"x": "B H T d", "positions": "... B T", "return": "B H T d"}
SIZES = {"B": (1, 3), "H": (1, 4, 9), "T": (1, 5, 150), "pairs": (1, 4, 65)}
DERIVED = {"d": "2 * pairs"}
SIXTEEN_BITS = "native"
# Angles may be float32 for float64 too: gradients are compared in float32, float64 values within what such angles reach.
PROFILES = {"gradients": ["ordinary"], "edge-cases": ["ordinary"], "stable": ["large"]}
TOLERANCE = {"float64": 2e-5}
LARGE = 1.0  # in `stable` the positions are large: float32 angles near 10⁴ are right to about 1e-3
TOLERANCE_STABLE = {"float32": 5e-3}
_LAYOUTS = ["interleaved", "half"]


def case(make):
    x, (B, T) = make.argument("x"), make.sizes("B", "T")
    drawn = make.integers(0, 20, B, T)
    positions = make.pick([drawn[0], drawn, drawn[0, 0] + torch.arange(T), drawn[:, :1].expand(B, T)])
    base = make.pick([10000.0, 500000.0, 100.0, 7.5])
    make.call("apply_rope", x, positions, base=base, layout=make.pick(_LAYOUTS))


def stable(make):
    """Positions around 10⁴ at width 64, around 10⁵ where float32 angles hold them."""
    T, layout = make.size(1, 4), make.pick(_LAYOUTS)
    d, start = make.pick([(64, 10_000), (64, 4_097), (4, 100_000), (2, 131_071)])
    make.call("apply_rope", make.normal(1, 2, T, d), make.integers(start, start + 100, T), layout=layout)


def edge_position_zero(make):
    """position 0 returns x bit for bit, float64 too, in a new tensor

    位置 0 逐位返回 x，float64 也一样，而且是新张量
    """
    wide = torch.randn(1, 2, 3, 6, generator=make.random, dtype=torch.float64)
    for x in (make.normal(2, 3, 4, 6), make.normal(2, 3, 1, 6), make.keep(wide, dtype="fixed")):
        B, _, T, _ = x.shape
        for layout in _LAYOUTS:
            for shape in ((T,), (B, T)):
                unchanged(make, make.call("apply_rope", x, torch.zeros(shape).long(), layout=layout), x.detach())


def unchanged(make, handle, x):
    def holds(outcomes):
        off = float((outcomes[handle.step].detach() - x).abs().max())
        said = f"the result differs from x by {off:.1g}", f"结果与 x 相差 {off:.1g}"
        if off == 0:
            return None
        return make.digits_lost(*said) if x.dtype == torch.float64 and off <= 1e-6 * float(x.abs().max()) else said

    make.property(holds)


def edge_a_cache_of_one(make):
    """one token each, at positions 0 and 7, as in batched decoding

    每条序列一个 token，在位置 0 和 7，如批量解码
    """
    for layout in _LAYOUTS:
        make.call("apply_rope", make.normal(2, 3, 1, 6), torch.tensor([[0], [7]]), layout=layout)


def edge_other_bases(make):
    """the base is an argument of every call

    base 是参数，每次都照传入的来
    """
    x, positions = make.normal(1, 2, 3, 8), torch.tensor([3, 9, 14])
    for base in (100.0, 500000.0, 2.0, 100.0):
        for layout in _LAYOUTS:
            make.call("apply_rope", x, positions, base, layout)


def edge_sixteen_bits_far_out(make):
    """positions that 16 bits cannot tell apart, or hold at all

    16 位分不清、甚至存不下的位置
    """
    positions = torch.tensor([257, 258, 2049, 4099, 10007, 70001])
    for dtype in (torch.bfloat16, torch.float16):
        x = make.keep(torch.tensor([1.0, -0.5, 0.25, 2.0]).to(dtype).expand(1, 1, 6, 4), dtype="fixed")
        for layout in _LAYOUTS:
            make.call("apply_rope", x, positions, layout=layout)
