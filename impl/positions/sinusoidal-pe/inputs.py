"""Tables of every width, odd ones too, from any position on."""

from __future__ import annotations

AXES = {"return": "T D"}
SIZES = {"T": (1, 6, 400), "D": (1, 9, 130), "offset": (0, 5, 500)}
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
GRADIENTS = False
TOLERANCE = {"float32": 2e-4}  # phases in float32 are right to 10⁻⁴ below position 1000
HARDENED = {"edge_far_positions"}


def case(make):
    T, D, offset = make.sizes("T", "D", "offset")
    make.call("sinusoidal_pe", T, D, base=make.pick([10000.0, 100.0, 7.5, 500000.0]), offset=offset)


def edge_odd_widths(make):
    """odd widths: the last sine has no cosine

    宽度为奇数：最后一个正弦没有余弦
    """
    for T, D in ((4, 5), (3, 1), (1, 3), (6, 7)):
        make.call("sinusoidal_pe", T, D)


def edge_position_by_position(make):
    """row by row with a growing offset gives the table at once

    逐行生成、offset 递增，与一次生成的表相同
    """
    make.call("sinusoidal_pe", 4, 6)
    for offset in range(4):
        make.call("sinusoidal_pe", 1, 6, offset=offset)


def edge_beyond_256(make):
    """positions from 250 to 770: 8 bits of a position are not enough

    位置从 250 到 770：只用 8 位存位置不够
    """
    for offset in (250, 510, 765):
        make.call("sinusoidal_pe", 5, 8, offset=offset)


def edge_bases(make):
    """base and width are arguments of every call

    base 和宽度都是参数，每次照传入的来
    """
    for D, base in ((6, 10000.0), (6, 2.0), (4, 2.0), (4, 10000.0)):
        make.call("sinusoidal_pe", 3, D, base, 2)


def edge_far_positions(make):
    """positions around 10⁵ and 10⁶: phases are float64

    位置到 10⁵、10⁶：相位要用 float64
    """
    for D, offset in ((64, 100_000), (5, 100_000), (32, 1_000_000)):
        make.call("sinusoidal_pe", 40, D, offset=offset)
