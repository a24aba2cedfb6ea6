"""A float64 oracle for the outputs, the weight itself as the witness of merging, and dropout that shows where it acts."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

TOLERANCES = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def matrix(factor):
    """The tensor of a factor, which may be a parameter or a bias-free nn.Linear."""
    return factor.weight if isinstance(factor, nn.Linear) else factor


def fill(layer):
    """Give A and B values as training would."""
    with torch.no_grad():
        matrix(layer.lora_A).uniform_(-1, 1)
        matrix(layer.lora_B).uniform_(-1, 1)
    return layer


def trained(LoRALinear, i=6, o=5, r=3, alpha=2.0, bias=True, dtype=torch.float32, dropout=0.0):
    return fill(LoRALinear(nn.Linear(i, o, bias=bias, dtype=dtype), r, alpha, dropout)).eval()


def expected(layer, weight, alpha, x):
    """The output beside an unmerged `weight`, in float64."""
    A, B, bias = matrix(layer.lora_A).double(), matrix(layer.lora_B).double(), layer.base.bias
    update = alpha / A.shape[0] * (B @ A)
    return x.double() @ (weight.double() + update).T + (0.0 if bias is None else bias.double())


def assert_right(layer, weight, alpha, x):
    actual, exact = layer(x), expected(layer, weight, alpha, x)
    assert actual.dtype == x.dtype
    tolerance = TOLERANCES[x.dtype] * max(1.0, exact.abs().max().item())
    assert_close(actual.double(), exact, rtol=TOLERANCES[x.dtype], atol=tolerance)


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 9), st.sampled_from([0.5, 1.0, 16.0]), st.booleans())
def test_any_shape_rank_and_scale_merged_or_not(LoRALinear, i, o, r, alpha, bias):
    layer, x = trained(LoRALinear, i, o, r, alpha, bias), torch.randn(4, i)
    weight = layer.base.weight.clone()
    assert_right(layer, weight, alpha, x)
    layer.merge()
    assert_right(layer, weight, alpha, x)


def test_any_leading_dimensions(LoRALinear):
    layer = trained(LoRALinear)
    for shape in ((6,), (1, 6), (2, 3, 6), (2, 1, 3, 6)):
        assert_right(layer, layer.base.weight, 2.0, torch.randn(shape))


def test_a_fresh_layer_gives_what_its_base_gives(LoRALinear):
    for r in (1, 3, 20):
        base, x = nn.Linear(6, 5), torch.randn(4, 6)
        layer = LoRALinear(base, r, 16.0)
        assert_close(layer(x), base(x))
        A, B = matrix(layer.lora_A), matrix(layer.lora_B)
        assert A.shape == (r, 6) and B.shape == (5, r) and not B.any()
        assert A.all() and A.unique().numel() == A.numel()


def test_a_is_random_and_the_generator_is_not_seeded(LoRALinear):
    base = nn.Linear(6, 5)
    first, second = LoRALinear(base, 3, 1.0), LoRALinear(base, 3, 1.0)
    assert not torch.equal(matrix(first.lora_A), matrix(second.lora_A))
    torch.manual_seed(1)
    third = LoRALinear(base, 3, 1.0)
    assert torch.initial_seed() == 1 and not torch.equal(matrix(third.lora_A), matrix(first.lora_A))


def test_the_given_base_is_frozen_and_only_the_factors_train_merged_or_not(LoRALinear):
    base = nn.Linear(6, 5)
    weight = base.weight
    layer = LoRALinear(base, 3, 1.0)
    for change in (lambda: None, layer.merge, layer.unmerge):
        change()
        assert layer.base is base and base.weight is weight
        assert not base.weight.requires_grad and not base.bias.requires_grad
        names = sorted(name.removesuffix(".weight") for name, p in layer.named_parameters() if p.requires_grad)
        assert names == ["lora_A", "lora_B"]


def test_merging_writes_the_update_into_the_weight(LoRALinear):
    layer, x = trained(LoRALinear), torch.randn(4, 6)
    before, bias = layer.base.weight.clone(), layer.base.bias.clone()
    layer.merge()
    update = 2.0 / 3 * matrix(layer.lora_B) @ matrix(layer.lora_A)
    assert_close(layer.base.weight.detach(), (before + update).detach())
    assert torch.equal(layer.base.bias, bias)
    assert_close(layer(x), layer.base(x))
    layer.unmerge()
    assert_close(layer.base.weight.detach(), before)


def test_repeated_calls_do_nothing(LoRALinear):
    layer = trained(LoRALinear)
    before = layer.base.weight.clone()
    layer.unmerge()
    assert torch.equal(layer.base.weight, before)
    layer.merge()
    merged = layer.base.weight.clone()
    layer.merge()
    assert torch.equal(layer.base.weight, merged)
    layer.unmerge(), layer.unmerge()
    assert_close(layer.base.weight.detach(), before)


def test_unmerging_subtracts_what_merging_added_although_the_factors_have_changed(LoRALinear):
    layer, x = trained(LoRALinear), torch.randn(4, 6)
    before = layer.base.weight.clone()
    for _ in range(3):
        layer.merge()
        fill(layer)
        layer.unmerge()
        assert_close(layer.base.weight.detach(), before)
        assert_right(layer, before, 2.0, x)  # the present factors count
        layer.merge()
        assert_right(layer, before, 2.0, x)
        layer.unmerge()


def test_layers_do_not_share_their_state(LoRALinear):
    first, second, x = trained(LoRALinear), trained(LoRALinear), torch.randn(4, 6)
    weights = first.base.weight.clone(), second.base.weight.clone()
    first.merge()
    assert_right(second, weights[1], 2.0, x)
    second.merge(), first.unmerge()
    assert_right(first, weights[0], 2.0, x)
    assert_right(second, weights[1], 2.0, x)


def test_gradients(LoRALinear):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        for dropout in (0.0, 0.5):  # off in eval
            layer, x = (
                trained(LoRALinear, dtype=dtype, dropout=dropout),
                torch.randn(4, 6, dtype=dtype, requires_grad=True),
            )
            leaves, upstream = (x, matrix(layer.lora_A), matrix(layer.lora_B)), torch.randn(4, 5, dtype=dtype)
            actual = torch.autograd.grad(layer(x), leaves, upstream)
            exact = torch.autograd.grad(expected(layer, layer.base.weight, 2.0, x), leaves, upstream.double())
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_dropout_drops_inputs_of_the_thin_path_and_scales_the_others(LoRALinear):
    layer = LoRALinear(nn.Linear(4, 4), 4, 4.0, 0.25).train()
    with torch.no_grad():
        matrix(layer.lora_A).copy_(torch.eye(4))
        matrix(layer.lora_B).copy_(torch.eye(4))
    x = torch.rand(1000, 4) + 1.0
    ratio = (layer(x) - layer.base(x)) / x  # 0 for a dropped input, 1/(1 − p) for another
    kept = ratio > 0.5
    assert_close(ratio, kept * (4 / 3), rtol=1e-4, atol=1e-4)
    assert 0.70 < kept.float().mean() < 0.80
    with torch.no_grad():  # each output now sums all inputs: a share of them is missing, not whole outputs
        matrix(layer.lora_B).fill_(1.0)
    assert ((layer(x) - layer.base(x)).detach().std(dim=1) < 1e-4).all()
    assert_close(layer.eval()(x), layer.base(x) + x.sum(-1, keepdim=True), rtol=1e-4, atol=1e-4)


def test_factors_have_the_dtype_and_the_device_of_the_base(LoRALinear):
    for dtype in TOLERANCES:
        layer = trained(LoRALinear, dtype=dtype)
        assert {p.dtype for p in layer.parameters()} == {dtype}
        assert_right(layer, layer.base.weight, 2.0, torch.randn(4, 6).to(dtype))
    layer = LoRALinear(nn.Linear(6, 5, device="meta"), 3, 1.0)
    assert {p.device.type for p in layer.parameters()} == {"meta"}
    assert layer(torch.randn(4, 6, device="meta")).device.type == "meta"


def test_any_memory_layout(LoRALinear):
    layer = trained(LoRALinear)
    for x in (torch.randn(6, 4).T, torch.randn(1, 12)[:, ::2].expand(4, 6)):
        assert_right(layer, layer.base.weight, 2.0, x)


def test_a_call_changes_neither_the_layer_nor_its_input(LoRALinear):
    layer, x = trained(LoRALinear), torch.randn(4, 6)
    before = [part.detach().clone() for part in (x, *layer.parameters())]
    first = layer(x)
    assert all(map(torch.equal, (x, *layer.parameters()), before))
    assert torch.equal(layer(x), first)
