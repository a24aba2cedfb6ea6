"""Check the sliding window's loop over key blocks with windows so wide that some blocks are fully visible."""

import pytest
import torch

from tests.impl.kernels.conftest import DEVICE, IMPL, kernel_of
from tests.impl.kernels.test_kernels import challenge_at

FOLDER = IMPL / "efficient/sparse-attention"


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("T", "window", "n_sink"), [(100, 50, 3), (70, 70, 0), (90, 33, 40), (100, 70, 20)])
def test_steps_seen_whole_count_once(T: int, window: int, n_sink: int, causal: bool) -> None:
    torch.manual_seed(T + window)
    inputs = [torch.randn(1, 2, T, 5, requires_grad=True, device=DEVICE) for _ in range(3)]
    weights = torch.randn(1, 2, T, 5, device=DEVICE)
    results = []
    for names in (vars(kernel_of(FOLDER)), challenge_at(FOLDER).reference):
        out = names["sliding_window_attention"](*inputs, window, n_sink=n_sink, causal=causal)
        results.append([out, *torch.autograd.grad((out * weights).sum(), inputs)])
    for mine, due in zip(*results, strict=True):
        torch.testing.assert_close(mine, due, atol=2e-5, rtol=1e-4)
