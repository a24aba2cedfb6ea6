"""An oracle in float64 that reads the layer's state dict, causality, and what a module owes to its user."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(layer, x, n_heads):
    """Attend one head at a time in float64, with the parameters of `layer`."""
    p = {name: value.double() for name, value in layer.named_parameters()}
    T, D = x.shape[1:]
    d = D // n_heads
    q, k, v = (x.double() @ p["c_attn.weight"].T + p.get("c_attn.bias", 0.0)).split(D, -1)
    hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
    heads = []
    for h in range(n_heads):
        head = slice(h * d, (h + 1) * d)
        scores = q[..., head] @ k[..., head].mT / math.sqrt(d)
        heads.append(scores.masked_fill(hidden, -math.inf).softmax(-1) @ v[..., head])
    return torch.cat(heads, -1) @ p["c_proj.weight"].T + p.get("c_proj.bias", 0.0)


def assert_right(layer, x, n_heads, rtol=1e-4, atol=1e-5):
    out = layer(x)
    assert out.dtype == x.dtype and out.shape == x.shape
    assert_close(out.double(), expected(layer, x, n_heads), rtol=rtol, atol=atol)


def assert_binomial(counts, n, p):
    """Compare the mean and the spread of `counts` with those of n independent draws, within 5 standard deviations."""
    counts, G, variance = counts.double().flatten(), counts.numel(), n * p * (1 - p)
    assert abs(counts.mean().item() - n * p) <= 5 * math.sqrt(variance / G)
    spread = (counts - n * p).square().mean().item() / variance
    assert abs(spread - 1) <= 5 * math.sqrt((2 + 1 / variance) / G)


def transparent(CausalSelfAttention, p, N):
    """Make a layer with equal scores and the identity as its other projections, and an input that shows its weights.

    Token j fills the 16 features from 16·j of both heads, so the features of token i are its weights, 16 times each.
    """
    layer = CausalSelfAttention(128, 2, 4, p, bias=False)
    with torch.no_grad():
        layer.c_attn.weight.zero_()[256:].copy_(torch.eye(128))
        layer.c_proj.weight.copy_(torch.eye(128))
    return layer, torch.eye(4).repeat_interleave(16, 1).repeat(N, 1, 2)


@given(*[st.integers(1, 4)] * 4, st.booleans())
def test_any_sizes(CausalSelfAttention, B, T, H, d, bias):
    layer = CausalSelfAttention(H * d, H, 4, bias=bias)
    assert_right(layer, torch.randn(B, T, H * d), H)


def test_every_length_up_to_max_len_and_none_beyond(CausalSelfAttention):
    layer = CausalSelfAttention(12, 3, 6)
    for T in range(1, 7):
        assert_right(layer, torch.randn(2, T, 12), 3)
    for T in (7, 20):
        with pytest.raises(ValueError):
            layer(torch.randn(2, T, 12))


def test_parameters_are_those_of_gpt_2(CausalSelfAttention):
    shapes = {"c_attn.weight": (24, 8), "c_attn.bias": (24,), "c_proj.weight": (8, 8), "c_proj.bias": (8,)}
    for bias in (True, False):
        layer = CausalSelfAttention(8, 2, 4, bias=bias)
        wanted = {name: shape for name, shape in shapes.items() if bias or "weight" in name}
        assert {name: tuple(p.shape) for name, p in layer.named_parameters()} == wanted
        assert set(layer.state_dict()) == set(wanted)
        assert isinstance(layer.c_attn, torch.nn.Linear) and isinstance(layer.c_proj, torch.nn.Linear)


def test_the_mask_is_a_buffer_that_moves_with_the_module(CausalSelfAttention):
    layer = CausalSelfAttention(8, 2, 5)
    assert any(tuple(buffer.shape[-2:]) == (5, 5) for buffer in layer.buffers())
    layer.to("meta")
    assert all(buffer.device.type == "meta" for buffer in layer.buffers())
    assert layer(torch.randn(1, 3, 8, device="meta")).device.type == "meta"


def test_later_tokens_have_no_influence(CausalSelfAttention):
    layer, x = CausalSelfAttention(8, 2, 6), torch.randn(2, 6, 8)
    whole = layer(x)
    for t in range(1, 7):
        assert_close(layer(x[:, :t]), whole[:, :t])


def test_large_scores_are_stable(CausalSelfAttention):
    layer, x = CausalSelfAttention(8, 2, 16), torch.randn(2, 16, 8)
    with torch.no_grad():
        layer.c_attn.weight[:16] *= 30.0
    for size in (1.0, 5.0):
        assert_right(layer, size * x, 2, 1e-3, 1e-2)


def test_a_hidden_score_of_30000_stays_hidden_behind_minus_30000(CausalSelfAttention):
    layer = CausalSelfAttention(1, 1, 3, bias=False)
    with torch.no_grad():
        layer.c_attn.weight.copy_(torch.tensor([[-1.0], [1.0], [1.0]]))
        layer.c_proj.weight.fill_(1.0)
    # Scores are −x·y: near −30,000 among the first two tokens, 30,000 between them and the last.
    assert_right(layer, torch.tensor([173.0, 173.001, -173.0]).reshape(1, 3, 1), 1, 1e-3, 1e-2)


def test_gradients_are_those_of_the_oracle(CausalSelfAttention):
    layer, x = CausalSelfAttention(8, 2, 5).double(), torch.randn(2, 4, 8, dtype=torch.float64, requires_grad=True)
    leaves, up = [x, *layer.parameters()], torch.randn(2, 4, 8, dtype=torch.float64)
    actual = torch.autograd.grad(layer(x), leaves, up)
    assert_close(actual, torch.autograd.grad(expected(layer, x, 2), leaves, up))


def test_dropout_drops_each_weight_on_its_own(CausalSelfAttention):
    for p in (0.1, 0.5):
        layer, x = transparent(CausalSelfAttention, p, 1_000)
        outputs = torch.stack([layer(x), layer(x)]).reshape(2, 1_000, 4, 2, 4, 16)
        # All 16 copies are 0: dropout behind c_proj hardly does that. Tokens 2 and 3 both see keys 0, 1 and 2.
        dropped = (outputs.amax(-1) == 0)[:, :, 2:, :, :3]
        for dim in range(5):
            assert_binomial(dropped.sum(dim), dropped.shape[dim], p)
        assert abs(4 * outputs[:, :, 3].mean().item() - 1) < 0.05  # kept weights are scaled


def test_queries_and_keys_learn_under_dropout(CausalSelfAttention):
    layer = CausalSelfAttention(8, 2, 5, dropout=0.2)
    layer(torch.randn(20, 5, 8)).square().sum().backward()
    for part in layer.c_attn.weight.grad.chunk(3):
        assert (part != 0).any()


def test_no_dropout_in_evaluation_or_at_p_0(CausalSelfAttention):
    assert_right(CausalSelfAttention(8, 2, 5, dropout=0.5).eval(), torch.randn(2, 5, 8), 2)
    assert_right(CausalSelfAttention(8, 2, 5).train(), torch.randn(2, 5, 8), 2)


def test_16_bits(CausalSelfAttention):
    for dtype in (torch.float16, torch.bfloat16):
        layer, x = CausalSelfAttention(32, 4, 16).to(dtype), torch.randn(2, 16, 32).to(dtype)
        assert_right(layer, x, 4, 4 * torch.finfo(dtype).eps, 4 * torch.finfo(dtype).eps)


def test_any_memory_layout(CausalSelfAttention):
    layer = CausalSelfAttention(8, 2, 5)
    for x in (
        torch.randn(5, 2, 8).transpose(0, 1),
        torch.randn(2, 5, 16)[..., ::2],
        torch.randn(1, 5, 8).expand(2, 5, 8),
    ):
        assert_right(layer, x, 2)


def test_a_call_changes_nothing(CausalSelfAttention):
    layer, x = CausalSelfAttention(8, 2, 5), torch.randn(2, 5, 8)
    tensors = [x, *layer.parameters(), *layer.buffers()]
    before = [t.detach().clone() for t in tensors]
    first = layer(x)
    layer(2 * x[:, :3])
    assert_close(layer(x), first, rtol=0, atol=0)
    assert_close([t.detach() for t in tensors], before, rtol=0, atol=0)


def test_two_modules_share_nothing(CausalSelfAttention):
    one, other = CausalSelfAttention(8, 2, 5), CausalSelfAttention(8, 2, 5)
    pointers = {t.data_ptr() for t in (*one.parameters(), *one.buffers())}
    assert not pointers & {t.data_ptr() for t in (*other.parameters(), *other.buffers())}
