"""Compare RMSNorm with torch's own, and check that the input's scale does not matter."""

import math

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

rms_norm = load(IMPL / "norms/rms-norm/reference.py").rms_norm


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 3), (2, 3, 1), (2, 1, 4, 130)])
@pytest.mark.parametrize("eps", [1e-8, 1e-6, 1.0])
def test_it_is_torchs(shape: tuple[int, ...], eps: float) -> None:
    x, weight = torch.randn(shape, dtype=torch.float64), torch.randn(shape[-1], dtype=torch.float64)
    assert torch.allclose(rms_norm(x, weight, eps), F.rms_norm(x, shape[-1:], weight, eps), rtol=1e-12, atol=0)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_a_row_is_divided_by_the_root_of_its_mean_square(scale: float) -> None:
    row = [scale * value for value in (0.5, -2.0, 3.0)]
    root = math.sqrt(sum(value * value for value in row) / 3 + 1e-6)
    got = rms_norm(torch.tensor([row], dtype=torch.float64), torch.tensor([1.0, 2.0, -1.0]).double())
    assert got[0].tolist() == pytest.approx([row[0] / root, 2 * row[1] / root, -row[2] / root], rel=1e-13)


def test_rows_of_zeros_stay_and_float16_squares_do_not_overflow() -> None:
    assert not rms_norm(torch.zeros(2, 4), torch.ones(4)).any()
    assert rms_norm(torch.full((1, 4), 2e4).half(), torch.ones(4).half()).tolist() == [[1.0] * 4]
