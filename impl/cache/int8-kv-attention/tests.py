"""What a code promises, attention over the decoded cache in float64 as the oracle, and slots that were never written."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def decoded(cache, name):
    return cache[name].double() * cache[f"{name}_scale"].double().unsqueeze(-1)


def attended(q, cache, lengths):
    """Attend in float64, one query head after the other."""
    B, H, d = q.shape
    R = H // cache["k"].shape[1]
    k, v = decoded(cache, "k"), decoded(cache, "v")
    out = torch.zeros(B, H, d, dtype=torch.float64)
    for b, n in enumerate(lengths.tolist()):
        for h in range(H):
            scores = k[b, h // R, :n] @ q[b, h].double() / math.sqrt(d)
            out[b, h] = scores.softmax(0) @ v[b, h // R, :n]
    return out


def random_cache(B=2, G=2, t=6, d=8):
    """Make codes and scales directly, so that `attend` is tested by itself."""
    codes = [torch.randint(-127, 128, (B, G, t, d), dtype=torch.int8) for _ in range(2)]
    scales = [torch.rand(B, G, t) / 50 + 0.001 for _ in range(2)]
    return {"k": codes[0], "v": codes[1], "k_scale": scales[0], "v_scale": scales[1]}


@given(st.floats(1e-3, 1e4), st.sampled_from([1, 2, 8]), st.sampled_from([torch.float32, torch.bfloat16]))
def test_each_token_of_each_head_is_within_half_its_own_scale(append_kv, size, d, dtype):
    # Sizes differ between tokens: a scale shared with a neighbour would not do.
    sizes = size * 10.0 ** torch.linspace(-2, 2, 2 * 2 * 3).reshape(2, 2, 3, 1)
    k, v = ((sizes * torch.randn(2, 2, 3, d)).to(dtype) for _ in range(2))
    cache = append_kv({}, k, v)
    assert set(cache) == {"k", "v", "k_scale", "v_scale"}
    for name, x in (("k", k), ("v", v)):
        scale = cache[f"{name}_scale"]
        assert cache[name].dtype == torch.int8 and scale.dtype == torch.float32
        torch.testing.assert_close(scale, x.float().abs().amax(-1) / 127, rtol=1e-5, atol=0)
        assert cache[name].abs().amax(-1).eq(127).all()
        error = (x.double() - decoded(cache, name)).abs()
        assert (error <= 0.501 * scale.double().unsqueeze(-1)).all()


def test_a_token_of_zeros(append_kv):
    k = torch.randn(1, 1, 3, 4)
    k[:, :, 1] = 0.0
    cache = append_kv({}, k, -k)
    for name in ("k", "v"):
        assert not cache[name][:, :, 1].any() and cache[f"{name}_scale"].isfinite().all()


def test_tokens_in_parts_equal_all_at_once(append_kv):
    k, v = torch.randn(2, 2, 7, 4), torch.randn(2, 2, 7, 4)
    whole, cache = append_kv({}, k, v), {}
    for start, end in [(0, 1), (1, 4), (4, 7)]:
        cache = append_kv(cache, k[:, :, start:end], v[:, :, start:end])
    torch.testing.assert_close(cache, whole)


def test_the_old_cache_stays_so_that_two_continuations_are_independent(append_kv):
    old = append_kv({}, torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4))
    before = {name: x.clone() for name, x in old.items()}
    k, v = torch.randn(1, 2, 2, 4), torch.randn(1, 2, 2, 4)
    kept_k, kept_v = k.clone(), v.clone()
    one, other = append_kv(old, k, v), append_kv(old, 100 * k, -v)
    assert torch.equal(k, kept_k) and torch.equal(v, kept_v)
    for cache in (one, other):
        torch.testing.assert_close({name: x[:, :, :3] for name, x in cache.items()}, before, rtol=0, atol=0)
        for x in cache.values():
            x.zero_()
    torch.testing.assert_close(old, before, rtol=0, atol=0)


def test_attention_over_the_decoded_cache(attend):
    for B, H, G, t, d in [(2, 4, 4, 6, 8), (2, 4, 2, 6, 8), (1, 6, 1, 1, 5), (3, 2, 2, 300, 4), (1, 8, 2, 257, 4)]:
        q, cache, lengths = torch.randn(B, H, d), random_cache(B, G, t, d), torch.randint(1, t + 1, (B,))
        for n in (lengths, torch.full((B,), t)):
            torch.testing.assert_close(attend(q, cache, n), attended(q, cache, n).float(), rtol=1e-4, atol=1e-4)


def test_length_0_gives_zeros(attend):
    q, lengths = torch.randn(2, 4, 8), torch.tensor([0, 3])
    cache = random_cache()
    torch.testing.assert_close(attend(q, cache, lengths), attended(q, cache, lengths).float(), rtol=1e-4, atol=1e-4)
    assert not attend(q, cache, torch.tensor([0, 0])).any()


def test_slots_beyond_a_length_have_no_influence(attend):
    # The longest sequence fills all slots, so the others' slots are there to be read by mistake.
    q, cache, lengths = torch.randn(3, 4, 8), random_cache(B=3), torch.tensor([0, 4, 6])
    expected = attend(q, cache, lengths)
    for rest in (1e4, math.inf, math.nan):  # never written: any number at all
        for name in ("k", "v"):
            for b, n in enumerate(lengths.tolist()):
                cache[name][b, :, n:] = 127
                cache[f"{name}_scale"][b, :, n:] = rest
        torch.testing.assert_close(attend(q, cache, lengths), expected)


def test_large_scores_are_stable(attend):
    q, cache, lengths = 300 * torch.randn(2, 4, 8), random_cache(), torch.tensor([6, 3])
    torch.testing.assert_close(attend(q, cache, lengths), attended(q, cache, lengths).float(), rtol=1e-3, atol=1e-3)
    cache["k"] = cache["k"].abs()  # all scores far above 0, then far below
    for one in (q.abs(), -q.abs()):
        expected = attended(one, cache, lengths).float()
        torch.testing.assert_close(attend(one, cache, lengths), expected, rtol=1e-3, atol=1e-3)


def test_16_bit_queries_are_computed_wider_and_rounded_once(attend):
    for dtype in (torch.float16, torch.bfloat16):
        q, cache, lengths = torch.randn(2, 4, 8).to(dtype), random_cache(t=40), torch.tensor([40, 17])
        actual, exact = attend(q, cache, lengths), attended(q, cache, lengths)
        assert actual.dtype == dtype
        torch.testing.assert_close(actual.double(), exact, rtol=0.52 * torch.finfo(dtype).eps, atol=1e-4)


def test_strided_inputs_stay_as_they_are(append_kv, attend):
    k, v = torch.randn(2, 5, 2, 4).transpose(1, 2), torch.randn(2, 2, 1, 4).expand(2, 2, 5, 4)
    q, lengths = torch.randn(2, 4, 8)[..., ::2], torch.tensor([5, 2])
    cache = append_kv({}, k, v)
    torch.testing.assert_close(cache, append_kv({}, k.contiguous(), v.contiguous()))
    before = {name: x.clone() for name, x in cache.items()}
    torch.testing.assert_close(attend(q, cache, lengths), attended(q, cache, lengths).float(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(cache, before, rtol=0, atol=0)
