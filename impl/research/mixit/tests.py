"""An oracle in float64 that reads the module's buffer and weights, and the statistics of the buffer."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close


def matrix(part):
    """Return the (D, D) weight, used as x Wᵀ, of a Linear or of a plain parameter."""
    return part.weight if isinstance(part, nn.Linear) else part


def expected(module, x, n_heads):
    T, D = x.shape[1:]
    d = D // n_heads
    values, mix = x.double() @ matrix(module.w_v).double().T, module.mix.double()
    heads = [mix[h, :T, :T] @ values[..., h * d : (h + 1) * d] for h in range(n_heads)]
    return torch.cat(heads, -1) @ matrix(module.w_o).double().T


def assert_right(module, x, n_heads, rtol=1e-4, atol=1e-5):
    out = module(x)
    assert out.dtype == x.dtype and out.shape == x.shape
    assert_close(out.double(), expected(module, x, n_heads), rtol=rtol, atol=atol)


def assert_standard_normal(z):
    """Compare the first four moments with those of N(0, 1), within 5 standard deviations."""
    z, n = z.double().flatten(), z.numel()
    for power, moment, variance in ((1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)):
        assert abs(z.pow(power).mean().item() - moment) <= 5 * math.sqrt(variance / n)


def noise(mix):
    """Return the entries up to the diagonal, with the factor 1/√(i + 1) taken back: (H, number of entries)."""
    L = mix.shape[-1]
    scaled = mix * torch.arange(1, L + 1)[:, None].sqrt()
    return scaled[:, torch.ones(L, L, dtype=torch.bool).tril()]


@given(*[st.integers(1, 4)] * 4, st.integers(0, 3))
def test_any_sizes(MixiTAttention, B, T, H, d, spare):
    assert_right(MixiTAttention(H * d, H, T + spare, 0), torch.randn(B, T, H * d), H)


def test_every_length_up_to_max_len(MixiTAttention):
    module = MixiTAttention(12, 3, 7, seed=1)
    for T in range(1, 8):
        assert_right(module, torch.randn(2, T, 12), 3)


def test_the_layer_is_linear_and_causal(MixiTAttention):
    module, x, y = MixiTAttention(8, 2, 6, 0), torch.randn(2, 6, 8), torch.randn(2, 6, 8)
    assert_close(module(3 * x - y), 3 * module(x) - module(y), rtol=1e-4, atol=1e-5)
    whole = module(x)
    for t in range(1, 6):
        assert_close(module(x[:, :t]), whole[:, :t], rtol=1e-4, atol=1e-5)


def test_two_projections_are_the_only_parameters(MixiTAttention):
    module = MixiTAttention(6, 2, 4, 0)
    names = {name.removesuffix(".weight"): tuple(p.shape) for name, p in module.named_parameters()}
    assert names == {"w_v": (6, 6), "w_o": (6, 6)}
    assert all(p.requires_grad for p in module.parameters())
    assert not torch.equal(matrix(module.w_v), matrix(module.w_o))


def test_mix_is_a_lower_triangular_buffer(MixiTAttention):
    module = MixiTAttention(6, 2, 5, 0)
    assert "mix" in dict(module.named_buffers()) and not module.mix.requires_grad
    assert module.mix.shape == (2, 5, 5)
    assert torch.equal(module.mix, module.mix.tril()) and (noise(module.mix) != 0).all()


def test_the_buffer_is_read_with_its_current_contents(MixiTAttention):
    module, x = MixiTAttention(6, 2, 5, 0), torch.randn(2, 4, 6)
    module(x)
    module.mix.copy_(torch.randn(2, 5, 5))  # taken as it is, though no longer triangular
    assert_right(module, x, 2)
    other = MixiTAttention(6, 2, 5, 1)
    module.mix = other.mix
    assert_right(module, x, 2)
    module.double()
    assert_right(module, x.double(), 2, 1e-10, 1e-10)


def test_entries_are_normal_with_the_variance_of_their_row(MixiTAttention):
    mix = MixiTAttention(8, 4, 200, seed=3).mix
    assert_standard_normal(noise(mix))
    for rows in (slice(0, 100), slice(100, 200)):
        scaled = mix[:, rows] * torch.arange(1, 201)[rows, None].sqrt()
        assert_standard_normal(scaled[scaled != 0])
    # Neither centred nor normalised: the sum of a row is N(0, 1), and its length varies.
    assert_standard_normal(mix.sum(-1))
    spread = (mix.square().sum(-1) - 1) * (torch.arange(1, 201) / 2).sqrt()
    assert abs(spread.square().mean().item() - 1) < 0.5


def test_the_first_row_is_drawn_as_well(MixiTAttention):
    assert_standard_normal(torch.stack([MixiTAttention(4, 4, 1, seed).mix for seed in range(300)]))


def test_heads_rows_and_seeds_are_independent(MixiTAttention):
    first, second = (noise(MixiTAttention(8, 4, 100, seed).mix) for seed in (0, 1))
    n = first.shape[1]
    for a in range(4):
        for b in range(4):
            assert abs((first[a] * second[b]).mean().item()) <= 5 / math.sqrt(n)
            assert a == b or abs((first[a] * first[b]).mean().item()) <= 5 / math.sqrt(n)
    mix = MixiTAttention(8, 4, 100, 0).mix
    neighbours = mix[:, 1:, :-1] * mix[:, :-1, :-1] * torch.arange(1, 100)[:, None]
    assert abs(neighbours[neighbours != 0].mean().item()) <= 5 / math.sqrt((neighbours != 0).sum().item())


def test_equal_seeds_give_equal_matrices_whatever_the_global_state(MixiTAttention):
    first = MixiTAttention(8, 2, 6, 5)
    torch.randn(3)
    second = MixiTAttention(8, 2, 6, 5)
    assert torch.equal(first.mix, second.mix)
    assert not torch.equal(first.mix, MixiTAttention(8, 2, 6, 6).mix)
    # The projections come from the global generator, which the seed has not set back.
    assert not torch.equal(matrix(first.w_v), matrix(second.w_v))


def test_the_global_generator_is_never_seeded(MixiTAttention):
    drawn = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        MixiTAttention(4, 2, 3, 7)
        drawn.append(torch.randn(5))
    assert not torch.equal(*drawn)


def test_gradients_are_those_of_the_oracle(MixiTAttention):
    module = MixiTAttention(8, 2, 6, 0).double()
    x, up = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True), torch.randn(2, 5, 8, dtype=torch.float64)
    leaves = [x, *module.parameters()]
    actual = torch.autograd.grad(module(x), leaves, up)
    assert_close(actual, torch.autograd.grad(expected(module, x, 2), leaves, up))


def test_16_bits(MixiTAttention):
    for dtype in (torch.float16, torch.bfloat16):
        module, tolerance = MixiTAttention(16, 2, 12, 0).to(dtype), 8 * torch.finfo(dtype).eps
        assert_right(module, torch.randn(2, 12, 16).to(dtype), 2, tolerance, tolerance)


def test_any_memory_layout(MixiTAttention):
    module = MixiTAttention(8, 2, 5, 0)
    for x in (
        torch.randn(5, 2, 8).transpose(0, 1),
        torch.randn(2, 5, 16)[..., ::2],
        torch.randn(1, 5, 8).expand(3, 5, 8),
    ):
        assert_right(module, x, 2)


def test_a_module_moves_to_another_device(MixiTAttention):
    module = MixiTAttention(8, 2, 5, 0).to("meta")
    assert module.mix.device.type == "meta"
    assert module(torch.randn(1, 3, 8, device="meta")).device.type == "meta"


def test_a_call_changes_nothing(MixiTAttention):
    module, x = MixiTAttention(8, 2, 5, 0), torch.randn(2, 5, 8)
    tensors = [x, *module.parameters(), *module.buffers()]
    before, state = [t.detach().clone() for t in tensors], torch.get_rng_state()
    first = module(x)
    module(x[:, :3])
    assert_close(module(x), first, rtol=0, atol=0)
    assert_close([t.detach() for t in tensors], before, rtol=0, atol=0)
    assert torch.equal(torch.get_rng_state(), state)


def test_two_modules_share_nothing(MixiTAttention):
    one, other = MixiTAttention(8, 2, 5, 0), MixiTAttention(8, 2, 5, 0)
    kept = other.mix.clone()
    one.mix.zero_()
    assert torch.equal(other.mix, kept) and torch.equal(MixiTAttention(8, 2, 5, 0).mix, kept)
