"""An oracle in float64 that keeps every key with its position, and what rotation promises of distances."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def turned(x, m, base):
    """Turn the pairs of x (..., d) by position m, one pair after the other."""
    x, out = x.double(), x.double().clone()
    for i in range(x.shape[-1] // 2):
        angle = m * base ** (-2 * i / x.shape[-1])
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        out[..., 2 * i] = a * math.cos(angle) - b * math.sin(angle)
        out[..., 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return out


def expected(steps, base=10000.0):
    """Return the result of the last of steps [(q, k, v, pos)]."""
    q, _, _, pos = steps[-1]
    out = torch.zeros(q.shape, dtype=torch.float64)
    for b in range(q.shape[0]):
        keys = torch.stack([turned(k[b, :, 0], int(p[b]), base) for _, k, _, p in steps], dim=1)  # (H, t, d)
        values = torch.stack([v[b, :, 0].double() for _, _, v, _ in steps], dim=1)
        query = turned(q[b, :, 0], int(pos[b]), base).unsqueeze(1)  # (H, 1, d)
        scores = query @ keys.transpose(1, 2) / math.sqrt(q.shape[-1])
        out[b] = scores.softmax(-1) @ values
    return out


def new_step(positions, H=2, d=4, dtype=torch.float32):
    B = len(positions)
    return (*(torch.randn(B, H, 1, d).to(dtype) for _ in range(3)), torch.tensor(positions).reshape(B, 1))


def run(rope_decode_step, steps, base=10000.0):
    """Run all steps on one cache and return all results, and the cache."""
    results, cache = [], {}
    for q, k, v, pos in steps:
        y, cache = rope_decode_step(q, k, v, cache, pos, base)
        results.append(y)
    return results, cache


def close(actual, exact, tolerance=1e-3):
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance)


def test_position_after_position(rope_decode_step):
    for H, d in [(1, 2), (2, 4), (3, 8)]:
        steps = [new_step([t, t], H, d) for t in range(6)]
        cache = {}
        for t, (q, k, v, pos) in enumerate(steps):
            y, cache = rope_decode_step(q, k, v, cache, pos)
            close(y, expected(steps[: t + 1]))


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 50)), min_size=1, max_size=6), st.floats(10, 1e6))
def test_positions_start_anywhere_jump_repeat_and_differ(rope_decode_step, positions, base):
    steps = [new_step(row) for row in positions]
    close(run(rope_decode_step, steps, base)[0][-1], expected(steps, base))


def test_a_long_past_is_seen_whole(rope_decode_step):
    steps = [new_step([t, 7]) for t in range(140)]
    close(run(rope_decode_step, steps)[0][-1], expected(steps))


def test_only_distances_matter(rope_decode_step):
    steps = [new_step([t, 2 * t]) for t in range(5)]
    results, _ = run(rope_decode_step, steps)
    later, _ = run(rope_decode_step, [(q, k, v, pos + 100) for q, k, v, pos in steps])
    torch.testing.assert_close(later, results, rtol=1e-3, atol=1e-3)


def test_rows_are_independent(rope_decode_step):
    steps = [new_step([t, 10 - t, 3]) for t in range(4)]
    results, _ = run(rope_decode_step, steps)
    for b in range(3):
        alone, _ = run(rope_decode_step, [tuple(x[b : b + 1] for x in step) for step in steps])
        torch.testing.assert_close(alone, [y[b : b + 1] for y in results], rtol=1e-4, atol=1e-4)


def test_two_continuations_of_one_past_are_independent(rope_decode_step):
    past = [new_step([t, t]) for t in range(3)]
    _, cache = run(rope_decode_step, past)
    ends, caches, outputs = [[new_step([t, t]) for t in (3, 4)] for _ in range(2)], [cache, cache], [None, None]
    for t in range(2):
        for i, end in enumerate(ends):  # in turns
            q, k, v, pos = end[t]
            outputs[i], caches[i] = rope_decode_step(q, k, v, caches[i], pos)
    for end, y in zip(ends, outputs, strict=True):
        close(y, expected(past + end))


def test_an_argument_that_changes_later_has_no_influence_on_the_cache(rope_decode_step):
    first, second = new_step([0, 5]), new_step([1, 6])
    before = [x.clone() for x in first]
    _, cache = rope_decode_step(*first[:3], {}, first[3])
    torch.testing.assert_close(list(first), before, rtol=0, atol=0)
    for x in first:
        x.zero_()
    y, _ = rope_decode_step(*second[:3], cache, second[3])
    close(y, expected([tuple(before), second]))


def test_the_cache_is_no_larger_than_keys_values_and_positions(rope_decode_step):
    steps = [new_step([t, t], H=3, d=8) for t in range(5)]
    _, cache = run(rope_decode_step, steps)
    kept = [x for x in cache.values() if isinstance(x, torch.Tensor)]
    assert sum(x.numel() for x in kept if x.is_floating_point()) <= 2 * 2 * 3 * 5 * 8 + 2 * 5


def test_large_scores_are_stable(rope_decode_step):
    for sign in (1.0, -1.0):
        steps = [(20 * q, 20 * sign * q, v, pos) for q, _, v, pos in (new_step([t, 3]) for t in range(4))]
        close(run(rope_decode_step, steps)[0][-1], expected(steps), 1e-2)


def test_16_bits_turn_by_angles_of_float32(rope_decode_step):
    # bfloat16 knows no odd position above 256.
    for dtype in (torch.float16, torch.bfloat16):
        steps = [new_step([1001 + t, t], dtype=dtype) for t in range(4)]
        y = run(rope_decode_step, steps)[0][-1]
        assert y.dtype == dtype
        close(y, expected(steps), 4 * torch.finfo(dtype).eps)


def test_strided_inputs(rope_decode_step):
    steps = [
        (torch.randn(2, 1, 3, 4).transpose(1, 2), torch.randn(2, 3, 1, 8)[..., ::2], torch.randn(1, 3, 1, 4).expand(2, 3, 1, 4),
         torch.tensor([t]).expand(2, 1))
        for t in range(3)
    ]  # fmt: skip
    close(run(rope_decode_step, steps)[0][-1], expected(steps))
