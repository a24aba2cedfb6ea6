"""Compare sinusoidal tables with a loop over single numbers, and check their two laws."""

import math

import pytest
import torch

from ..conftest import IMPL, load

sinusoidal_pe = load(IMPL / "positions/sinusoidal-pe/reference.py").sinusoidal_pe


@pytest.mark.parametrize(("T", "D"), [(1, 1), (4, 5), (3, 8), (7, 1)])
@pytest.mark.parametrize(("base", "offset"), [(10000.0, 0), (7.5, 3), (100.0, 100_000)])
def test_every_entry_is_the_sine_or_cosine_of_its_phase(T: int, D: int, base: float, offset: int) -> None:
    table = sinusoidal_pe(T, D, base, offset)
    assert table.dtype == torch.float32 and table.shape == (T, D)
    for r in range(T):
        for column in range(D):
            phase = (offset + r) * base ** (-(column - column % 2) / D)
            assert float(table[r, column]) == pytest.approx((math.sin, math.cos)[column % 2](phase), abs=1e-7)


def test_products_of_rows_depend_on_their_distance_alone() -> None:
    table = sinusoidal_pe(12, 8).double()
    products = table @ table.T
    assert torch.allclose(products[1:, 1:], products[:-1, :-1], rtol=0, atol=1e-5)


def test_a_shift_turns_every_pair_by_the_same_angle() -> None:
    here, there = (sinusoidal_pe(9, 6, offset=offset).double() for offset in (0, 5))
    for i in range(3):
        angle = 5 * 10000 ** (-2 * i / 6)
        turn = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]).double()
        assert torch.allclose(here[:, 2 * i : 2 * i + 2] @ turn, there[:, 2 * i : 2 * i + 2], rtol=0, atol=1e-6)
