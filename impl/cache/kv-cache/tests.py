"""One causal pass in float64 as the oracle: however a sequence is split into calls, the result is the same."""

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st


def whole_pass(x, params, n_heads):
    """Attend causally over the sequence in float64; return the result and the cache."""
    D = x.shape[-1]
    q, k, v = (
        (x.double() @ params[name].double()).unflatten(-1, (n_heads, D // n_heads)).transpose(1, 2)
        for name in ("wq", "wk", "wv")
    )
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return heads.transpose(1, 2).flatten(2) @ params["wo"].double(), {"k": k, "v": v}


def weights(D, dtype=torch.float32):
    return {name: (torch.randn(D, D) / D**0.5).to(dtype) for name in ("wq", "wk", "wv", "wo")}


def in_parts(prefill, decode_step, x, params, n_heads, prompt):
    """Run a prompt, or none, and then token by token."""
    outputs, cache = [], {}
    if prompt:
        y, cache = prefill(x[:, :prompt], params, n_heads)
        outputs.append(y)
    for t in range(prompt, x.shape[1]):
        y, cache = decode_step(x[:, t : t + 1], cache, params, n_heads)
        outputs.append(y)
    return torch.cat(outputs, dim=1), cache


def close(actual, expected, tolerance=1e-4):
    torch.testing.assert_close(actual.double(), expected, rtol=tolerance, atol=tolerance)


def test_a_prompt_alone(prefill):
    for B, T, D, H in [(2, 5, 8, 2), (1, 1, 4, 1), (2, 70, 12, 3), (1, 3, 4, 4)]:
        x, params = torch.randn(B, T, D), weights(D)
        (y, cache), (expected, kept) = prefill(x, params, H), whole_pass(x, params, H)
        close(y, expected)
        assert set(cache) == {"k", "v"}
        close(cache["k"], kept["k"])
        close(cache["v"], kept["v"])


@given(st.integers(1, 3), st.sampled_from([(4, 1), (4, 4), (12, 3)]), st.integers(1, 9), st.integers(0, 9))
def test_any_split_equals_the_whole(prefill, decode_step, B, sizes, T, prompt):
    D, H = sizes
    x, params = torch.randn(B, T, D), weights(D)
    y, cache = in_parts(prefill, decode_step, x, params, H, min(prompt, T))
    expected, kept = whole_pass(x, params, H)
    close(y, expected)
    close(cache["k"], kept["k"])
    close(cache["v"], kept["v"])


def test_a_long_sequence(prefill, decode_step):
    x, params = torch.randn(1, 150, 8), weights(8)
    close(in_parts(prefill, decode_step, x, params, 2, 100)[0], whole_pass(x, params, 2)[0])


def test_a_step_reads_the_past_from_the_cache_alone(decode_step):
    # No call has seen this past: its keys and values come from elsewhere.
    B, H, t, d = 2, 2, 5, 3
    x, params = torch.randn(B, 1, H * d), weights(H * d)
    cache = {"k": torch.randn(B, t, H, d).transpose(1, 2), "v": torch.randn(B, H, t, 2 * d)[..., ::2]}
    q, k, v = ((x @ params[name]).reshape(B, H, 1, d) for name in ("wq", "wk", "wv"))
    k, v = torch.cat([cache["k"], k], dim=2), torch.cat([cache["v"], v], dim=2)
    y, new = decode_step(x, cache, params, H)
    heads = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    close(y, heads.reshape(B, 1, H * d) @ params["wo"].double())
    torch.testing.assert_close(new, {"k": k, "v": v})


def test_two_continuations_of_one_past_are_independent(prefill, decode_step):
    x, params = torch.randn(2, 4, 8), weights(8)
    _, past = prefill(x, params, 2)
    before = {name: kept.clone() for name, kept in past.items()}
    ends = [torch.randn(2, 2, 8) for _ in range(2)]
    caches, outputs = [past, past], [None, None]
    for t in range(2):
        for i, end in enumerate(ends):  # in turns
            outputs[i], caches[i] = decode_step(end[:, t : t + 1], caches[i], params, 2)
    for end, y in zip(ends, outputs, strict=True):
        close(y, whole_pass(torch.cat([x, end], dim=1), params, 2)[0][:, -1:])
    for cache in caches:
        cache["k"].zero_(), cache["v"].zero_()
    torch.testing.assert_close(past, before, rtol=0, atol=0)


def test_the_cache_keeps_no_more_memory_than_its_numbers(prefill, decode_step):
    for B in (1, 2):
        x, params = torch.randn(B, 5, 8), weights(8)
        for prompt in (5, 3, 0):
            for kept in in_parts(prefill, decode_step, x, params, 2, prompt)[1].values():
                assert kept.untyped_storage().nbytes() == B * 5 * 8 * 4


def test_gradients_flow_through_the_cache(prefill, decode_step):
    for prompt in (0, 2, 5):
        x, params = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True), weights(8, torch.float64)
        leaves = [x, *(w.requires_grad_() for w in params.values())]
        y, _ = in_parts(prefill, decode_step, x, params, 2, prompt)
        actual = torch.autograd.grad(y.square().sum(), leaves)
        expected = torch.autograd.grad(whole_pass(x, params, 2)[0].square().sum(), leaves)
        torch.testing.assert_close(actual, expected)


def test_a_hidden_key_has_no_influence_however_large_its_score(prefill, decode_step):
    # The first query sees a score of −30,000; those of the later keys reach 30,000.
    eye = torch.eye(1)
    params = {"wq": 100 * eye, "wk": -100 * eye, "wv": eye, "wo": eye}
    x = torch.tensor([1.7, -1.7, 0.5]).reshape(1, 3, 1)
    for prompt in (3, 1, 0):
        close(in_parts(prefill, decode_step, x, params, 1, prompt)[0], whole_pass(x, params, 1)[0], 1e-3)
    params["wk"] = 200 * eye  # every score is at least 0 here
    for prompt in (3, 1):
        close(in_parts(prefill, decode_step, x, params, 1, prompt)[0], whole_pass(x, params, 1)[0], 1e-3)


def test_16_bits_give_16_bits(prefill, decode_step):
    for dtype in (torch.float16, torch.bfloat16):
        x, params = torch.randn(2, 6, 8).to(dtype), weights(8, dtype)
        for prompt in (6, 3, 0):
            y, cache = in_parts(prefill, decode_step, x, params, 2, prompt)
            assert y.dtype == cache["k"].dtype == cache["v"].dtype == dtype
            close(y, whole_pass(x, params, 2)[0], 8 * torch.finfo(dtype).eps)


def test_strided_inputs_stay_as_they_are(prefill, decode_step):
    x, params = torch.randn(5, 2, 8).transpose(0, 1), {name: w.T for name, w in weights(8).items()}
    before = [x.clone(), *(w.clone() for w in params.values())]
    for prompt in (5, 2):
        close(in_parts(prefill, decode_step, x, params, 2, prompt)[0], whole_pass(x, params, 2)[0])
    torch.testing.assert_close([x, *params.values()], before, rtol=0, atol=0)
