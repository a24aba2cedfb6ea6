"""The example of the statement, plain oracles for text and rollout, and what holds for any map."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

WIDE = "中文日ｗ　한"  # two columns each
NARROW = "ab é_αｱ…"  # one column each; α and … are "ambiguous", ｱ is half-width
TOKENS = st.lists(st.text(WIDE + NARROW, max_size=5), min_size=1, max_size=4)


def columns(text):
    return sum(2 if character in WIDE else 1 for character in text)


def fitted(token, width):
    """Cut or pad to `width` columns."""
    while columns(token) > width:
        token = token[:-1]
    return token + " " * (width - columns(token))


def expected_text(weights, q_tokens, k_tokens, width):
    label = max(map(columns, q_tokens))
    lines = [" " * (label + 1) + "".join(fitted(token, width) for token in k_tokens)]
    for token, row in zip(q_tokens, weights.tolist(), strict=True):
        cells = [" .:-=+*#%@"[min(9, max(0, int(10 * weight)))] * width for weight in row]
        lines.append(fitted(token, label) + " " + "".join(cells))
    return "\n".join(lines)


def expected_rollout(weights, residual=0.5):
    """Multiply the layers' matrices in float64, one batch entry at a time."""
    products = []
    for b in range(len(weights[0])):
        product = torch.eye(weights[0].shape[-1], dtype=torch.float64)
        for layer in weights:
            mixed = (1 - residual) * layer[b].double().mean(0) + residual * torch.eye(len(product), dtype=torch.float64)
            product = mixed / mixed.sum(-1, keepdim=True) @ product
        products.append(product)
    return torch.stack(products)


def layers(L=3, B=2, H=4, T=5, dtype=torch.float32):
    return [torch.randn(B, H, T, T).softmax(-1).to(dtype) for _ in range(L)]


def test_the_example_of_the_statement(attention_to_text):
    weights = torch.tensor([[0.95, 0.05, 0.05], [0.45, 0.45, 0.05]])
    assert attention_to_text(weights, ["a", "bb"], ["x", "y", "z"], 3) == "   x  y  z  \na  @@@      \nbb ======   "


@given(TOKENS, TOKENS, st.integers(1, 5))
def test_any_tokens(attention_to_text, q_tokens, k_tokens, width):
    # The middle of a level, so that no rounding decides.
    weights = (torch.randint(0, 10, (len(q_tokens), len(k_tokens))) + 0.5) / 10
    text = attention_to_text(weights, q_tokens, k_tokens, width)
    assert text == expected_text(weights, q_tokens, k_tokens, width)
    lines = text.split("\n")
    assert len(lines) == len(q_tokens) + 1 and len({columns(line) for line in lines}) == 1


def test_the_width_is_two_by_default(attention_to_text):
    assert attention_to_text(torch.tensor([[0.55]]), ["q"], ["key"]) == "  ke\nq ++"


def test_levels_are_rounded_down_and_limited(attention_to_text):
    row = [-3.0, -0.01, 0.0, 0.09, 0.11, 0.19, 0.51, 0.59, 0.89, 0.91, 1.0, 7.0]
    text = attention_to_text(torch.tensor([row]), ["q"], ["k"] * len(row), 1)
    assert text.split("\n")[1] == "q " + "    ..++%@@@"


def test_rollout_multiplies_last_layer_first(attention_rollout):
    for residual in (0.0, 0.2, 0.5, 0.9, 1.0):
        for L in (1, 2, 4):
            weights = layers(L)
            assert_close(
                attention_rollout(weights, residual).double(), expected_rollout(weights, residual), rtol=1e-4, atol=1e-6
            )
    assert_close(attention_rollout(weights).double(), expected_rollout(weights, 0.5), rtol=1e-4, atol=1e-6)


@given(*[st.integers(1, 4)] * 4, st.sampled_from([0.0, 0.3, 1.0]))
def test_rollout_for_any_sizes(attention_rollout, L, B, H, T, residual):
    weights = layers(L, B, H, T)
    assert_close(
        attention_rollout(weights, residual).double(), expected_rollout(weights, residual), rtol=1e-4, atol=1e-6
    )


def test_rows_sum_to_one_however_small_or_large_their_sums_are(attention_rollout):
    for scale in (1e-20, 1e-9, 1e-3, 1e3, 1e20):
        for residual in (0.0, 0.5):
            weights = [scale * layer for layer in layers()]
            out = attention_rollout(weights, residual)
            assert_close(out.sum(-1), torch.ones(2, 5), rtol=1e-4, atol=1e-5)
            assert_close(out.double(), expected_rollout(weights, residual), rtol=1e-4, atol=1e-6)


def test_causal_maps_give_a_causal_rollout(attention_rollout):
    weights = [layer.tril() for layer in layers()]  # rows no longer sum to 1, as after dropout
    out = attention_rollout(weights)
    assert torch.equal(out, out.tril())
    assert_close(out.double(), expected_rollout(weights), rtol=1e-4, atol=1e-6)


def test_gradients(attention_rollout):
    weights = [layer.requires_grad_() for layer in layers(dtype=torch.float64)]
    up = torch.randn(2, 5, 5, dtype=torch.float64)
    for residual in (0.0, 0.4):
        actual = torch.autograd.grad(attention_rollout(weights, residual), weights, up)
        assert_close(actual, torch.autograd.grad(expected_rollout(weights, residual), weights, up))


def test_dtypes_are_kept(attention_rollout):
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)):
        weights = layers(dtype=dtype)
        out = attention_rollout(weights)
        assert out.dtype == dtype
        assert_close(out.double(), expected_rollout(weights), rtol=tolerance, atol=tolerance)


def test_any_memory_layout(attention_to_text, attention_rollout):
    base = torch.rand(2, 4, 6, 6)
    weights = [
        base.mT,
        base.transpose(0, 1).contiguous().transpose(0, 1),
        base[:, :1].expand(2, 4, 6, 6),
        torch.rand(2, 4, 6, 12)[..., ::2],
    ]
    assert_close(attention_rollout(weights).double(), expected_rollout(weights), rtol=1e-4, atol=1e-6)
    cells, tokens = base[0, 0].mT[::2], list("abcdef")
    assert attention_to_text(cells, tokens[:3], tokens) == expected_text(cells, tokens[:3], tokens, 2)


def test_the_rollout_lies_on_the_device_of_the_weights(attention_rollout):
    assert attention_rollout([layer.to("meta") for layer in layers()]).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(attention_to_text, attention_rollout):
    for residual in (0.0, 0.5, 1.0):
        weights = layers(1, H=1)
        before, list_before = weights[0].clone(), list(weights)
        attention_rollout(weights, residual).add_(1.0)
        assert torch.equal(weights[0], before) and len(weights) == 1 and weights[0] is list_before[0]
        assert_close(
            attention_rollout(weights, residual).double(), expected_rollout(weights, residual), rtol=1e-4, atol=1e-6
        )
    cells, queries, keys = torch.rand(2, 2), ["a", "long"], ["longer", "b"]
    before = cells.clone()
    attention_to_text(cells, queries, keys)
    assert torch.equal(cells, before) and queries == ["a", "long"] and keys == ["longer", "b"]
