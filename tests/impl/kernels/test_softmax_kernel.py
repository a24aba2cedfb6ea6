"""Compare the kernels' reference softmax with torch's own, and check cases that torch leaves undefined."""

import pytest
import torch

from ..conftest import IMPL, load

softmax = load(IMPL / "kernels/softmax-kernel/reference.py").softmax


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1), (2, 3, 65), (2, 3000)])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_it_is_torchs(shape: tuple[int, ...], scale: float) -> None:
    x = scale * torch.randn(shape, dtype=torch.float64)
    assert torch.allclose(softmax(x), torch.softmax(x, -1), rtol=1e-12, atol=0)


def test_rows_of_minus_infinity_are_zeros_and_leave_their_neighbours() -> None:
    x = torch.tensor([[float("-inf")] * 3, [0.0, float("-inf"), 0.0]])
    assert softmax(x).tolist() == [[0.0] * 3, [0.5, 0.0, 0.5]]


def test_float16_is_summed_in_float32() -> None:
    got = softmax(torch.zeros(1, 3000).half())
    assert got.dtype == torch.float16 and got[0, 0] == torch.tensor(1 / 3000).half()
