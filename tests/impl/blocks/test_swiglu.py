"""Compare SwiGLU with torch's own silu, and its width with counting up."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

reference = load(IMPL / "blocks/swiglu/reference.py")


@pytest.mark.parametrize(("shape", "hidden"), [((1,), 1), ((4,), 3), ((2, 3, 5), 8), ((2, 1, 3, 4), 2)])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_it_is_torchs_silu_times_the_other_projection(shape: tuple[int, ...], hidden: int, scale: float) -> None:
    D = shape[-1]
    x, gate, up = (torch.randn(s, dtype=torch.float64) for s in (shape, (D, hidden), (D, hidden)))
    down = torch.randn(hidden, D, dtype=torch.float64)
    due = F.linear(F.silu(F.linear(scale * x, gate.T)) * F.linear(scale * x, up.T), down.T)
    assert torch.allclose(reference.swiglu_ffn(scale * x, gate, up, down), due, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("multiple", [1, 3, 64, 256])
def test_the_width_is_the_first_multiple_that_is_no_less(multiple: int) -> None:
    for D in (*range(1, 200), 2048, 4096, 5120):
        width = reference.swiglu_hidden(D, multiple)
        assert width % multiple == 0 and 3 * width >= 8 * D > 3 * (width - multiple)


def test_widths_of_known_models() -> None:
    assert [reference.swiglu_hidden(D) for D in (4096, 5120)] == [11008, 13824]
