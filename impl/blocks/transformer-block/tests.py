"""An oracle in float64, one head at a time, and what each kind of block implies: an identity, a norm, causality."""

import math

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

KINDS = [(norm, causal) for norm in ("pre", "post") for causal in (False, True)]


def expected(x, params, n_heads, norm, causal):
    x, p = x.double(), {name: value.double() for name, value in params.items()}

    def layer_norm(z, name):
        centred = z - z.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt() * p[name + "_g"] + p[name + "_b"]

    def attention(z):
        T, D = z.shape[1:]
        d, heads = D // n_heads, []
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else torch.zeros(T, T, dtype=torch.bool)
        for h in range(n_heads):
            q, k, v = ((z @ p[name])[..., h * d : (h + 1) * d] for name in ("wq", "wk", "wv"))
            heads.append((q @ k.mT / math.sqrt(d)).masked_fill(hidden, -math.inf).softmax(-1) @ v)
        return torch.cat(heads, -1) @ p["wo"]

    def feed_forward(z):
        return F.gelu(z @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    if norm == "pre":
        x = x + attention(layer_norm(x, "ln1"))
        return x + feed_forward(layer_norm(x, "ln2"))
    x = layer_norm(x + attention(x), "ln1")
    return layer_norm(x + feed_forward(x), "ln2")


def inputs(B=2, T=5, D=8, width=12, dtype=torch.float32):
    """Return tokens and parameters, all of them random, the shifts and gains of the norms too."""
    shapes = dict.fromkeys(("ln1_g", "ln1_b", "ln2_g", "ln2_b", "b2"), (D,))
    shapes |= dict.fromkeys(("wq", "wk", "wv", "wo"), (D, D)) | {"w1": (D, width), "b1": (width,), "w2": (width, D)}
    scale = {2: D**-0.5, 1: 1.0}
    params = {name: (scale[len(shape)] * torch.randn(shape)).to(dtype) for name, shape in shapes.items()}
    return torch.randn(B, T, D).to(dtype), params


def assert_right(block, x, params, n_heads, norm, causal, rtol=1e-4, atol=1e-4):
    out = block(x, params, n_heads, norm, causal)
    assert out.dtype == x.dtype and out.shape == x.shape
    assert_close(out.double(), expected(x, params, n_heads, norm, causal), rtol=rtol, atol=atol)


@given(*[st.integers(1, 4)] * 4, st.integers(1, 9), st.sampled_from(KINDS))
def test_any_sizes(block, B, T, H, d, width, kind):
    # In float64: a norm over one or two features may divide by very little.
    assert_right(block, *inputs(B, T, H * d, width, torch.float64), H, *kind, 1e-6, 1e-6)


def test_each_kind_with_more_heads(block):
    for kind in KINDS:
        for H in (1, 2, 4, 16):
            assert_right(block, *inputs(T=9, D=16, width=64), H, *kind)


def test_a_pre_norm_block_without_output_weights_is_the_identity(block):
    x, params = inputs()
    params |= {name: torch.zeros_like(params[name]) for name in ("wo", "w2", "b2")}
    for causal in (False, True):
        assert_close(block(x, params, 2, "pre", causal), x)


def test_a_post_norm_block_gives_normalised_tokens(block):
    x, params = inputs()
    params |= {"ln2_g": torch.ones(8), "ln2_b": torch.zeros(8)}
    for causal in (False, True):
        out = block(100 * x, params, 2, "post", causal)
        assert_close(out.mean(-1), torch.zeros(2, 5), rtol=0, atol=1e-4)
        assert_close(out.var(-1, unbiased=False), torch.ones(2, 5), rtol=1e-3, atol=0)


def test_eps_lies_inside_the_root(block):
    # Features that differ by less than √ε.
    for kind in KINDS:
        x, params = inputs(dtype=torch.float64)
        params |= {name: 1e-3 * params[name] for name in ("wv", "w2", "b2")}
        assert_right(block, 1e-3 * x, params, 2, *kind, 1e-6, 1e-6)


def test_the_gelu_is_the_exact_one(block):
    for kind in KINDS:
        x, params = inputs(B=8, T=20, D=16, width=256, dtype=torch.float64)
        assert_right(block, x, params, 4, *kind, 1e-7, 1e-7)


def test_later_tokens_have_no_influence_if_causal(block):
    x, params = inputs()
    for norm in ("pre", "post"):
        whole = block(x, params, 2, norm, True)
        for t in range(1, 6):
            assert_close(block(x[:, :t], params, 2, norm, True), whole[:, :t], rtol=1e-4, atol=1e-5)


def test_the_order_of_tokens_does_not_matter_otherwise(block):
    x, params = inputs()
    order = torch.randperm(5)
    for norm in ("pre", "post"):
        out = block(x, params, 2, norm, False)
        assert_close(block(x[:, order], params, 2, norm, False), out[:, order], rtol=1e-4, atol=1e-5)


def test_gradients_are_those_of_the_oracle(block):
    for kind in KINDS:
        x, params = inputs(dtype=torch.float64)
        leaves, up = [t.requires_grad_() for t in (x, *params.values())], torch.randn_like(x)
        actual = torch.autograd.grad(block(x, params, 2, *kind), leaves, up)
        assert_close(actual, torch.autograd.grad(expected(x, params, 2, *kind), leaves, up))


def test_16_bits_are_computed_in_float32_and_rounded_once(block):
    for dtype in (torch.float16, torch.bfloat16):
        for kind in KINDS:
            x, params = inputs(T=16, D=32, width=64, dtype=dtype)
            assert_right(block, x, params, 4, *kind, 0.52 * torch.finfo(dtype).eps, 3e-5)


def test_transposed_strided_and_expanded_inputs(block):
    for kind in KINDS:
        _, params = inputs()
        params = {
            name: value.t().contiguous().t() if value.dim() == 2 else value.repeat_interleave(2)[::2]
            for name, value in params.items()
        }
        for x in (
            torch.randn(5, 2, 8).transpose(0, 1),
            torch.randn(2, 5, 16)[..., ::2],
            torch.randn(1, 5, 8).expand(3, 5, 8),
        ):
            assert_right(block, x, params, 2, *kind)


def test_the_result_lies_on_the_device_of_the_inputs(block):
    x, params = inputs()
    params = {name: value.to("meta") for name, value in params.items()}
    for kind in KINDS:
        assert block(x.to("meta"), params, 2, *kind).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(block):
    for kind in KINDS:
        x, params = inputs()
        params |= {name: torch.zeros_like(params[name]) for name in ("wo", "w2", "b2")}
        before = x.clone(), {name: value.clone() for name, value in params.items()}
        first = block(x, params, 2, *kind)
        kept = first.clone()
        block(x, params, 2, *kind).add_(1.0)
        assert_close((x, params), before, rtol=0, atol=0)
        assert torch.equal(first, kept)
