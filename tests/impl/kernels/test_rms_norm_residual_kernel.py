"""Compare the fused residual and RMS norm that serves as the kernels' reference with torch's own norm."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

rms_norm_residual = load(IMPL / "kernels/rms-norm-residual-kernel/reference.py").rms_norm_residual


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1), (2, 3, 65), (2, 3000)])
@pytest.mark.parametrize("eps", [1e-8, 1e-6, 1.0])
def test_it_is_torchs_norm_of_the_sum(shape: tuple[int, ...], eps: float) -> None:
    x, residual = torch.randn(2, *shape, dtype=torch.float64)
    weight = torch.randn(shape[-1], dtype=torch.float64)
    y, h = rms_norm_residual(x, residual, weight, eps)
    assert torch.equal(h, x + residual)
    assert torch.allclose(y, F.rms_norm(x + residual, shape[-1:], weight, eps), rtol=1e-12, atol=0)


def test_float16_is_normalised_as_it_was_rounded_and_its_squares_do_not_overflow() -> None:
    x, residual = torch.full((1, 4), 2e4).half(), torch.full((1, 4), 1.0).half()
    y, h = rms_norm_residual(x, residual, torch.ones(4).half())
    assert h.tolist() == [[20000.0] * 4] and y.tolist() == [[1.0] * 4]
