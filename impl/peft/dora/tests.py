"""An oracle that scales row by row in float64, gradients with the norm held constant, and the state of a fresh layer."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

TOLERANCES = {torch.float64: 1e-11, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def matrix(factor):
    """The tensor of a factor, which may be a parameter or a bias-free nn.Linear."""
    return factor.weight if isinstance(factor, nn.Linear) else factor


def fill(layer):
    """Give A, B and m values as training would; some magnitudes are negative."""
    with torch.no_grad():
        for parameter in (matrix(layer.lora_A), matrix(layer.lora_B)):
            parameter.uniform_(-1, 1)
        layer.m.normal_(1.0, 1.0)
    return layer


def trained(DoRALinear, i=6, o=5, r=3, alpha=2.0, bias=True, dtype=torch.float32):
    return fill(DoRALinear(nn.Linear(i, o, bias=bias, dtype=dtype), r, alpha)).eval()


def merged(W, A, B, m, alpha):
    V = W + alpha / A.shape[0] * (B @ A)
    norms = [row.detach().norm() for row in V]  # constants in the backward pass
    return torch.stack([m[i] * V[i] / (norms[i] if norms[i] > 0 else 1.0) for i in range(len(m))])


def expected_weight(layer, alpha):
    parts = (layer.base.weight, matrix(layer.lora_A), matrix(layer.lora_B), layer.m)
    return merged(*(part.detach().double() for part in parts), alpha)


def assert_right(layer, alpha, x):
    W, bias = expected_weight(layer, alpha), layer.base.bias
    y = x.double() @ W.T + (0.0 if bias is None else bias.double())
    close = {"rtol": TOLERANCES[x.dtype], "atol": TOLERANCES[x.dtype] * max(1.0, y.abs().max().item())}
    actual, weight = layer(x), layer.merged_weight()
    assert actual.dtype == weight.dtype == x.dtype
    assert_close(actual.double(), y, **close)
    assert_close(weight.double(), W, **close)


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9), st.sampled_from([0.5, 1.0, 16.0]), st.booleans())
def test_any_shape_rank_and_scale(DoRALinear, i, o, r, alpha, bias):
    assert_right(trained(DoRALinear, i, o, r, alpha, bias), alpha, torch.randn(4, i))


def test_any_leading_dimensions(DoRALinear):
    layer = trained(DoRALinear)
    for shape in ((6,), (1, 6), (2, 3, 6), (2, 1, 3, 6)):
        assert_right(layer, 2.0, torch.randn(shape))


def test_a_fresh_layer_gives_what_its_base_gives(DoRALinear):
    for r in (1, 3, 20):
        base, x = nn.Linear(6, 5), torch.randn(4, 6)
        layer = DoRALinear(base, r, 16.0).eval()
        assert_close(layer(x), base(x))
        assert_close(layer.merged_weight(), base.weight.detach())
        assert_close(layer.m.detach(), base.weight.detach().norm(dim=1))
        assert matrix(layer.lora_A).shape == (r, 6) and matrix(layer.lora_B).shape == (5, r)
        assert not matrix(layer.lora_B).any() and matrix(layer.lora_A).any()


def test_a_is_random_and_the_generator_is_not_seeded(DoRALinear):
    base = nn.Linear(6, 5)
    first, second = DoRALinear(base, 3, 1.0), DoRALinear(base, 3, 1.0)
    assert not torch.equal(matrix(first.lora_A), matrix(second.lora_A))
    torch.manual_seed(1)
    third = DoRALinear(base, 3, 1.0)
    assert torch.initial_seed() == 1 and not torch.equal(matrix(third.lora_A), matrix(first.lora_A))


def test_only_the_factors_and_the_magnitude_train(DoRALinear):
    base = nn.Linear(6, 5)
    layer = DoRALinear(base, 3, 1.0)
    assert layer.base is base and not base.weight.requires_grad and not base.bias.requires_grad
    names = sorted(name.removesuffix(".weight") for name, p in layer.named_parameters() if p.requires_grad)
    assert names == ["lora_A", "lora_B", "m"]


def test_a_magnitude_is_the_length_of_its_row(DoRALinear):
    layer = trained(DoRALinear)
    assert_close(layer.merged_weight().norm(dim=1), layer.m.detach().abs(), rtol=1e-5, atol=1e-5)


def test_the_norm_is_taken_anew_in_each_call(DoRALinear):
    layer, x = trained(DoRALinear), torch.randn(4, 6)
    layer(x)
    for _ in range(2):
        assert_right(fill(layer), 2.0, x)


def test_gradients_hold_the_norm_constant(DoRALinear):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        layer, x, upstream = (
            trained(DoRALinear, dtype=dtype),
            torch.randn(4, 6, dtype=dtype),
            torch.randn(4, 5, dtype=dtype),
        )
        x.requires_grad_()
        A, B = matrix(layer.lora_A), matrix(layer.lora_B)
        actual = torch.autograd.grad(layer(x), (x, A, B, layer.m), upstream)
        leaves = [part.detach().double().requires_grad_() for part in (x, A, B, layer.m)]
        y = leaves[0] @ merged(layer.base.weight.double(), *leaves[1:], 2.0).T
        exact = torch.autograd.grad(y, leaves, upstream.double())
        for one, other in zip(actual, exact, strict=True):
            assert_close(one.double(), other, rtol=tolerance, atol=tolerance)


def test_dropout_acts_in_training_alone(DoRALinear):
    layer, x = fill(DoRALinear(nn.Linear(6, 5), 3, 2.0, 0.5)), torch.randn(64, 6)
    assert not torch.equal(layer(x), layer(x))
    assert_right(layer.eval(), 2.0, x)
    never = fill(DoRALinear(nn.Linear(6, 5), 3, 2.0))
    assert_close(never(x), never.eval()(x))


def test_a_row_of_zeros_gives_its_bias(DoRALinear):
    base = nn.Linear(6, 5)
    with torch.no_grad():
        base.weight[2] = 0.0
    layer = DoRALinear(base, 3, 2.0).eval()
    with torch.no_grad():
        layer.m.fill_(3.0)
    assert_right(layer, 2.0, torch.randn(4, 6))


def test_short_rows_are_scaled_exactly(DoRALinear):
    layer = trained(DoRALinear)
    with torch.no_grad():
        layer.base.weight *= 1e-6
        matrix(layer.lora_B).mul_(1e-6)
    assert_right(layer, 2.0, torch.randn(4, 6))


def test_factors_have_the_dtype_and_the_device_of_the_base(DoRALinear):
    for dtype in TOLERANCES:
        layer = trained(DoRALinear, dtype=dtype)
        assert {p.dtype for p in layer.parameters()} == {dtype}
        assert_right(layer, 2.0, torch.randn(4, 6).to(dtype))
    layer = DoRALinear(nn.Linear(6, 5, device="meta"), 3, 1.0)
    assert {p.device.type for p in layer.parameters()} == {"meta"}
    assert layer(torch.randn(4, 6, device="meta")).device.type == "meta"


def test_any_memory_layout(DoRALinear):
    assert_right(trained(DoRALinear), 2.0, torch.randn(6, 4).T)
    assert_right(trained(DoRALinear), 2.0, torch.randn(1, 12)[:, ::2].expand(4, 6))


def test_a_call_changes_neither_the_layer_nor_its_input(DoRALinear):
    layer, x = trained(DoRALinear), torch.randn(4, 6)
    before = [part.detach().clone() for part in (x, *layer.parameters())]
    first, weight = layer(x), layer.merged_weight()
    kept = weight.clone()
    weight.zero_()
    assert all(map(torch.equal, (x, *layer.parameters()), before))
    assert torch.equal(layer(x), first) and torch.equal(layer.merged_weight(), kept)
