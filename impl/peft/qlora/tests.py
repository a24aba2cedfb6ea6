"""An oracle that quantises number by number in float64, on weights whose codes do not depend on rounding; bytes are counted."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

LEVELS = [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0]
LEVELS += [0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]


def matrix(factor):
    """The tensor of a factor, which may be a parameter or a bias-free nn.Linear."""
    return factor.weight if isinstance(factor, nn.Linear) else factor


def weight(out, size, block, dtype=torch.float32):
    """Numbers well inside the cells of their levels; one of each block is its absmax, and blocks differ widely."""
    levels = torch.tensor(LEVELS, dtype=torch.float64)
    unit = levels[torch.randint(16, (out * size // block, block))] + 0.02 * (
        torch.rand(out * size // block, block) - 0.5
    )
    unit = unit.clamp(-1, 1)
    unit[:, 0] = torch.randint(0, 2, (len(unit),)) * 2.0 - 1.0
    return (unit * (0.5 + 1.5 * torch.rand(len(unit), 1))).reshape(out, size).to(dtype)


def dequantised(W, block, double_quant):
    """The rebuilt weight, in float64."""
    blocks = W.double().reshape(-1, block)
    absmax = blocks.abs().amax(dim=1)
    levels = torch.tensor(LEVELS, dtype=torch.float64)
    unit = blocks / torch.where(absmax == 0, 1.0, absmax)[:, None]
    codes = (unit[..., None] - levels).abs().argmin(dim=-1)
    if double_quant:
        rest, parts = absmax - absmax.mean(), []
        for group in rest.split(256):
            s = group.abs().max() / 127
            parts.append((group / s).round() * s if s > 1e-9 else group)
        absmax = absmax.mean() + torch.cat(parts)
    return (levels[codes] * absmax[:, None]).reshape(W.shape)


def fill(layer):
    with torch.no_grad():
        matrix(layer.lora_A).normal_()
        matrix(layer.lora_B).normal_()
    return layer


def expected(layer, W, alpha, block, double_quant, x):
    A, B = matrix(layer.lora_A).double(), matrix(layer.lora_B).double()
    return x.double() @ dequantised(W, block, double_quant).T + alpha / A.shape[0] * (x.double() @ A.T @ B.T)


def assert_right(QLoRALinear, W, r=3, alpha=2.0, block=64, double_quant=True, x=None):
    x = torch.randn(4, W.shape[1], dtype=torch.float32) if x is None else x
    layer = fill(QLoRALinear(W, r, alpha, block, double_quant))
    actual, exact = layer(x), expected(layer, W, alpha, block, double_quant, x)
    assert actual.dtype == x.dtype and actual.shape == (*x.shape[:-1], W.shape[0])
    tolerance = 2e-5 if x.dtype in (torch.float32, torch.float64) else 6 * torch.finfo(x.dtype).eps
    assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance * max(1.0, exact.abs().max().item()))


@given(
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([1.0, 16.0]),
    st.booleans(),
)
def test_any_shape_rank_block_and_scale(QLoRALinear, out, half, r, block, alpha, double_quant):
    size = block * half
    assert_right(QLoRALinear, weight(out, size, block), r, alpha, block, double_quant)


def test_the_defaults(QLoRALinear):
    W, x = weight(6, 64, 64), torch.randn(4, 64)
    layer = fill(QLoRALinear(W, 3, 2.0))
    assert_close(layer(x).double(), expected(layer, W, 2.0, 64, True, x), rtol=1e-4, atol=1e-3)


def test_a_weight_of_levels_is_kept_exactly(QLoRALinear):
    W = torch.tensor([LEVELS, [-level for level in LEVELS][::-1]])
    layer = QLoRALinear(W[:1], 1, 1.0, 16, False)
    assert_close(layer(torch.eye(16)).T, W[:1])


def test_blocks_run_along_rows_and_across_their_ends(QLoRALinear):
    for out, size, block in ((4, 8, 16), (8, 2, 16), (3, 16, 8), (6, 4, 12)):
        for double_quant in (False, True):
            assert_right(QLoRALinear, weight(out, size, block), block=block, double_quant=double_quant)


def test_scales_of_the_absmax_belong_to_256_blocks_each(QLoRALinear):
    for out, size, block in ((128, 8, 2), (40, 32, 4)):
        W = weight(out, size, block)
        W[out // 2 :] *= 4  # the groups have ranges of their own, the mean is that of all
        assert_right(QLoRALinear, W, block=block)


def test_codes_come_from_the_exact_absmax(QLoRALinear):
    W = weight(4, 16, 16)
    W *= torch.tensor([[0.5], [0.5], [0.5], [40.5]]) / W.abs().amax(dim=1, keepdim=True)
    assert_right(QLoRALinear, W, block=16)  # 0.5 is stored as 0.577, since the largest absmax sets the step


def test_zero_blocks_and_equal_absmax(QLoRALinear):
    for double_quant in (False, True):
        assert_right(QLoRALinear, torch.zeros(4, 8), block=8, double_quant=double_quant)
        assert_right(QLoRALinear, torch.ones(4, 8), block=8, double_quant=double_quant)
        W = weight(4, 8, 8)
        W[1] = 0.0
        assert_right(QLoRALinear, W, block=8, double_quant=double_quant)


def test_a_fresh_layer_has_random_a_and_zero_b_in_float32(QLoRALinear):
    W = weight(6, 64, 64)
    layer, other = QLoRALinear(W, 3, 2.0), QLoRALinear(W, 3, 2.0)
    names = sorted(name.removesuffix(".weight") for name, p in layer.named_parameters() if p.requires_grad)
    assert names == ["lora_A", "lora_B"]
    A, B = matrix(layer.lora_A), matrix(layer.lora_B)
    assert A.shape == (3, 64) and B.shape == (6, 3) and A.any() and not B.any()
    assert not torch.equal(A, matrix(other.lora_A))
    torch.manual_seed(1)
    assert not torch.equal(A, matrix(QLoRALinear(W, 3, 2.0).lora_A)) and torch.initial_seed() == 1
    for dtype in (torch.float16, torch.bfloat16):
        layer = QLoRALinear(W.to(dtype), 3, 2.0)
        assert matrix(layer.lora_A).dtype == matrix(layer.lora_B).dtype == torch.float32


def test_gradients_of_the_input_and_of_the_factors(QLoRALinear):
    W, x, upstream = weight(6, 16, 8), torch.randn(4, 16, requires_grad=True), torch.randn(4, 6)
    for double_quant in (False, True):
        layer = fill(QLoRALinear(W, 3, 2.0, 8, double_quant))
        leaves = x, matrix(layer.lora_A), matrix(layer.lora_B)
        actual = torch.autograd.grad(layer(x), leaves, upstream)
        exact = torch.autograd.grad(expected(layer, W, 2.0, 8, double_quant, x), leaves, upstream.double())
        assert_close(actual, exact, rtol=1e-4, atol=1e-4)


def test_the_layer_keeps_four_bits_a_number(QLoRALinear):
    W = weight(256, 256, 64)
    for double_quant, bits in ((True, 4.13), (False, 4.5)):
        layer = QLoRALinear(W, 1, 1.0, 64, double_quant)
        for _ in range(2):
            tensors = [*layer.buffers(), *(p for p in layer.parameters() if not p.requires_grad)]
            kept = sum(8 * part.untyped_storage().nbytes() for part in tensors)
            assert kept <= bits * W.numel()
            layer(torch.randn(4, 256))


def test_the_result_has_the_dtype_of_x(QLoRALinear):
    W = weight(6, 64, 64)
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        assert_right(QLoRALinear, W.to(dtype), double_quant=False, x=torch.randn(4, 64).to(dtype))


def test_any_memory_layout(QLoRALinear):
    W = weight(6, 16, 8)
    spaced = torch.zeros(6, 32)
    spaced[:, ::2] = W
    for view in (W.T.contiguous().T, spaced[:, ::2]):
        assert_right(QLoRALinear, view, block=8, x=torch.randn(2, 16, 3).transpose(1, 2))


def test_factors_and_codes_lie_on_the_device_of_the_weight(QLoRALinear):
    layer = QLoRALinear(torch.randn(6, 64, device="meta"), 3, 1.0, 64, False)
    assert {part.device.type for part in (*layer.parameters(), *layer.buffers())} == {"meta"}


def test_the_weight_stays_as_it_is_and_is_not_kept(QLoRALinear):
    W, x = weight(6, 64, 64), torch.randn(4, 64)
    before = W.clone()
    layer = fill(QLoRALinear(W, 3, 2.0))
    first = layer(x)
    assert torch.equal(W, before)
    W.zero_()
    assert torch.equal(layer(x), first)
