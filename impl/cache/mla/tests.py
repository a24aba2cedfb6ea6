"""An oracle in float64, head by head and position by position; forward and steps must both give it."""

import math

import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

# D, H, d_nope, d_rope, d_v, r_kv, r_q: all different, so that none can stand for another.
SIZES = (10, 3, 6, 4, 5, 7, 9)


def new_layer(MLA, sizes=SIZES, dtype=torch.float64):
    """Make a layer whose parameters, gains too, are random."""
    layer = MLA(*sizes).to(dtype)
    with torch.no_grad():
        for p in layer.parameters():
            p.copy_(torch.randn(p.shape) / p.shape[0] ** 0.5 + (p.dim() == 1))
    return layer


def normed(x, gain):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain.double()


def turned(x, pos):
    """Turn the pairs of x (B, T, d) by pos (B, T), one pair after the other."""
    pairs = []
    for i in range(x.shape[-1] // 2):
        angle = pos.double() * 10000.0 ** (-2 * i / x.shape[-1])
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        pairs += [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()]
    return torch.stack(pairs, dim=-1)


def expected(layer, x, pos, sizes=SIZES):
    """Return the result of one causal pass, and the cache after it."""
    _, H, d_nope, d_rope, _, _, _ = sizes
    x = x.double()
    queries = normed(x @ layer.w_dq.double(), layer.g_q)
    c = normed(x @ layer.w_dkv.double(), layer.g_kv)
    kr = turned(x @ layer.w_kr.double(), pos)
    heads = []
    for h in range(H):
        q = queries @ layer.w_uq[:, h].double()
        q = torch.cat([q[..., :d_nope], turned(q[..., d_nope:], pos)], dim=-1)
        k = torch.cat([c @ layer.w_uk[:, h].double(), kr], dim=-1)
        scale = 1 / math.sqrt(d_nope + d_rope)
        heads.append(F.scaled_dot_product_attention(q, k, c @ layer.w_uv[:, h].double(), is_causal=True, scale=scale))
    return torch.cat(heads, dim=-1) @ layer.w_o.double(), {"c": c, "kr": kr}


def in_steps(layer, x, pos, cache=None):
    results, cache = [], cache or {}
    for t in range(x.shape[1]):
        y, cache = layer.step(x[:, t : t + 1], pos[:, t : t + 1], cache)
        results.append(y)
    return torch.cat(results, dim=1), cache


def inputs(T=5, B=2, D=SIZES[0], dtype=torch.float64):
    return torch.randn(B, T, D, dtype=torch.float64).to(dtype), torch.randint(0, 500, (B, T))


def close(actual, exact, tolerance=1e-6):
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance)


def test_nine_parameters(MLA):
    D, H, d_nope, d_rope, d_v, r_kv, r_q = SIZES
    assert {name: tuple(p.shape) for name, p in MLA(*SIZES).named_parameters()} == {
        "w_dq": (D, r_q), "g_q": (r_q,), "w_uq": (r_q, H, d_nope + d_rope), "w_dkv": (D, r_kv), "g_kv": (r_kv,),
        "w_kr": (D, d_rope), "w_uk": (r_kv, H, d_nope), "w_uv": (r_kv, H, d_v), "w_o": (H * d_v, D),
    }  # fmt: skip


@given(st.integers(1, 3), st.integers(1, 6), st.sampled_from([SIZES, (4, 1, 2, 2, 1, 3, 5), (6, 2, 4, 8, 3, 5, 2)]))
def test_forward_and_steps_give_the_oracle(MLA, B, T, sizes):
    layer, (x, pos) = new_layer(MLA, sizes), inputs(T, B, sizes[0])
    exact, kept = expected(layer, x, pos, sizes)
    close(layer(x, pos), exact)
    y, cache = in_steps(layer, x, pos)
    close(y, exact)
    assert set(cache) == {"c", "kr"}
    torch.testing.assert_close(cache, kept)


def test_a_long_past(MLA):
    layer, (x, pos) = new_layer(MLA), inputs(T=150)
    exact, _ = expected(layer, x, pos)
    close(layer(x, pos), exact)
    close(in_steps(layer, x, pos)[0], exact)


def test_a_step_reads_the_past_from_the_cache_alone(MLA):
    maker, layer, (x, pos) = new_layer(MLA), new_layer(MLA), inputs()
    layer.load_state_dict(maker.state_dict())
    exact, kept = expected(maker, x, pos)
    past = {"c": kept["c"][:, :4], "kr": kept["kr"][:, :4]}  # from elsewhere, and not contiguous
    y, cache = layer.step(x[:, 4:], pos[:, 4:], past)
    close(y, exact[:, 4:])
    torch.testing.assert_close(cache, kept)


def test_one_pos_tensor_may_be_used_again_with_new_contents(MLA):
    layer, (x, pos), cache = new_layer(MLA), inputs(), {}
    for _ in range(2):
        close(layer(x, pos), expected(layer, x, pos)[0])
        pos += 7
    place = torch.tensor([[3], [100]])
    for t in range(5):
        y, cache = layer.step(x[:, t : t + 1], place, cache)
        place += 1
    places = torch.tensor([[3], [100]]) + torch.arange(5)
    close(y, expected(layer, x, places)[0][:, -1:])


def test_two_continuations_of_one_past_are_independent(MLA):
    layer, (x, pos), (ends, places) = new_layer(MLA), inputs(), inputs(T=2)
    _, past = in_steps(layer, x, pos)
    before = {name: kept.detach().clone() for name, kept in past.items()}
    for i in range(2):
        y, cache = in_steps(layer, ends[:, i:], places[:, i:], past)
        whole = torch.cat([x, ends[:, i:]], dim=1), torch.cat([pos, places[:, i:]], dim=1)
        close(y, expected(layer, *whole)[0][:, 5:])
        for kept in cache.values():
            kept.detach().zero_()
    torch.testing.assert_close(past, before, rtol=0, atol=0)


def test_the_cache_keeps_no_more_memory_than_its_numbers(MLA):
    for B in (1, 2):
        layer, (x, pos) = new_layer(MLA), inputs(B=B)
        for kept in in_steps(layer, x, pos)[1].values():
            assert kept.untyped_storage().nbytes() == kept.numel() * 8


def test_gradients_flow_through_the_cache(MLA):
    layer, (x, pos) = new_layer(MLA), inputs()
    leaves = [x.requires_grad_(), *layer.parameters()]
    exact = torch.autograd.grad(expected(layer, x, pos)[0].square().sum(), leaves)
    for y in (layer(x, pos), in_steps(layer, x, pos)[0]):
        torch.testing.assert_close(torch.autograd.grad(y.square().sum(), leaves), exact)


def test_large_scores_are_stable(MLA):
    layer, (x, pos) = new_layer(MLA), inputs()
    for factor in (100.0, -1.0):
        with torch.no_grad():
            layer.g_q.mul_(factor)
        exact, _ = expected(layer, x, pos)
        close(layer(x, pos), exact, 1e-4)
        close(in_steps(layer, x, pos)[0], exact, 1e-4)


def test_16_bits_turn_by_angles_of_float32(MLA):
    # bfloat16 knows no odd position above 256.
    for dtype in (torch.float16, torch.bfloat16):
        layer, (x, _) = new_layer(MLA, dtype=dtype), inputs(dtype=dtype)
        pos = 1000 + torch.arange(5).expand(2, 5)
        exact, _ = expected(layer, x, pos)
        y, cache = in_steps(layer, x, pos)
        assert y.dtype == cache["c"].dtype == cache["kr"].dtype == layer(x, pos).dtype == dtype
        for result in (y, layer(x, pos)):
            close(result, exact, 16 * torch.finfo(dtype).eps)
