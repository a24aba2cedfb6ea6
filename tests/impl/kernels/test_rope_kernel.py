"""Compare the kernels' reference rotation with complex numbers, and check the invariants of rotations."""

import pytest
import torch

from ..conftest import IMPL, load

rope = load(IMPL / "kernels/rope-kernel/reference.py").rope


@pytest.mark.parametrize(("B", "H", "T", "pairs"), [(1, 1, 1, 1), (2, 3, 5, 7), (1, 2, 70, 48)])
def test_a_pair_is_a_complex_number_times_a_unit(B: int, H: int, T: int, pairs: int) -> None:
    x = torch.randn(B, H, T, 2 * pairs, dtype=torch.float64)
    angle = 3 * torch.randn(T, pairs, dtype=torch.float64)
    turned = torch.complex(x[..., :pairs], x[..., pairs:]) * torch.polar(torch.ones_like(angle), angle)
    got = rope(x, angle.cos(), angle.sin())
    assert torch.allclose(got, torch.cat((turned.real, turned.imag), -1), rtol=1e-12, atol=1e-12)
    assert torch.allclose(got.norm(dim=-1), x.norm(dim=-1))


def test_the_negative_angle_turns_back() -> None:
    x, angle = torch.randn(2, 3, 4, 6), torch.randn(4, 3)
    there = rope(x, angle.cos(), angle.sin())
    assert torch.allclose(rope(there, angle.cos(), -angle.sin()), x, atol=1e-5)
