"""Compare the layer norm that serves as the kernels' reference with torch's own."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

layer_norm = load(IMPL / "kernels/layer-norm-kernel/reference.py").layer_norm


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1), (2, 3, 65), (2, 3000)])
@pytest.mark.parametrize("eps", [1e-8, 1e-5, 1.0])
def test_it_is_torchs(shape: tuple[int, ...], eps: float) -> None:
    x = 2.0 + torch.randn(shape, dtype=torch.float64)
    weight, bias = torch.randn(2, shape[-1], dtype=torch.float64)
    due = F.layer_norm(x, shape[-1:], weight, bias, eps)
    assert torch.allclose(layer_norm(x, weight, bias, eps), due, rtol=1e-10, atol=1e-10)


def test_a_mean_of_3000_leaves_the_spread_its_digits() -> None:
    x = 3000.0 + torch.randn(4, 300)
    weight, bias = torch.ones(300), torch.zeros(300)
    exact = layer_norm(x.double(), weight.double(), bias.double())
    assert torch.allclose(layer_norm(x, weight, bias).double(), exact, rtol=0, atol=2e-3)
