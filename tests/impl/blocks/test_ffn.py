"""Compare the feed-forward network with torch's own activations; it must not mix tokens."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

ffn = load(IMPL / "blocks/ffn/reference.py").ffn
ACTS = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda z: F.gelu(z, approximate="tanh")}


def weights(D: int, hidden: int) -> list[torch.Tensor]:
    return [torch.randn(shape, dtype=torch.float64) for shape in ((D, hidden), (hidden,), (hidden, D), (D,))]


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(("shape", "hidden"), [((1,), 1), ((4,), 3), ((2, 3, 5), 8), ((2, 1, 3, 4), 2)])
def test_it_is_two_linear_maps_around_torchs_activation(act: str, shape: tuple[int, ...], hidden: int) -> None:
    x, (w1, b1, w2, b2) = 3 * torch.randn(shape, dtype=torch.float64), weights(shape[-1], hidden)
    due = F.linear(ACTS[act](F.linear(x, w1.T, b1)), w2.T, b2)
    assert torch.allclose(ffn(x, w1, b1, w2, b2, act), due, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("act", ACTS)
def test_tails_are_finite_and_flat(act: str) -> None:
    one, nought = torch.ones(1, 1), torch.zeros(1)
    x = torch.tensor([[-1e4], [-30.0], [0.0], [30.0], [1e4]])
    assert ffn(x, one, nought, one, nought, act).flatten().tolist() == [0.0, 0.0, 0.0, 30.0, 1e4]


def test_reordered_tokens_give_reordered_results() -> None:
    x, order, params = torch.randn(2, 5, 4, dtype=torch.float64), [3, 0, 4, 1, 2], weights(4, 6)
    assert torch.allclose(ffn(x, *params, "gelu")[:, order], ffn(x[:, order], *params, "gelu"), rtol=1e-12)
