"""Compare the SwiGLU gate that serves as the kernels' reference with torch's own silu."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

swiglu_gate = load(IMPL / "kernels/swiglu-kernel/reference.py").swiglu_gate


@pytest.mark.parametrize("shape", [(2,), (3, 10), (2, 3, 130), (2, 1, 3, 2)])
def test_it_is_torchs_silu_times_up_on_halves(shape: tuple[int, ...]) -> None:
    gate, up = torch.randn(shape, dtype=torch.float64).chunk(2, -1)
    got = swiglu_gate(gate, up)
    assert torch.allclose(got, F.silu(gate) * up, rtol=1e-12, atol=1e-15) and got.is_contiguous()


def test_the_tails_are_the_identity_and_zero() -> None:
    gate = torch.tensor([200.0, -200.0, 0.0])
    assert swiglu_gate(gate, torch.full((3,), 2.0)).tolist() == [400.0, 0.0, 0.0]


def test_float16_is_rounded_once() -> None:
    gate, up = torch.randn(2, 1000).half()
    assert torch.equal(swiglu_gate(gate, up), (F.silu(gate.double()) * up.double()).float().half())
