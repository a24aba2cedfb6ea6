"""An oracle that sorts each row in plain Python, and what must hold for any filter."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

GONE = -math.inf


def kept(row, top_k=None, top_p=None, min_p=None):
    """Return the ids that stay in a row of scaled logits."""
    ids = sorted((i for i, x in enumerate(row) if x > GONE), key=lambda i: (-row[i], i))
    if top_k:
        ids = ids[:top_k]
    if top_p and top_p < 1:
        weights = [math.exp(row[i] - row[ids[0]]) for i in ids]
        before = [math.fsum(weights[:n]) / math.fsum(weights) for n in range(len(ids))]
        ids = [i for n, i in enumerate(ids) if n == 0 or before[n] < top_p]
    if min_p:
        ids = [i for i in ids if math.exp(row[i] - row[ids[0]]) >= min_p]
    return set(ids)


def expected(logits, temperature=1.0, **filters):
    scaled = logits.double() / temperature
    stays = [kept(row, **filters) for row in scaled.tolist()]
    mask = torch.tensor([[i in ids for i in range(logits.shape[1])] for ids in stays])
    return scaled.masked_fill(~mask, GONE)


def check(filter_logits, logits, **filters):
    torch.testing.assert_close(filter_logits(logits, **filters), expected(logits, **filters).to(logits.dtype))


PROBS = torch.tensor([[0.1, 0.4, 0.05, 0.3, 0.15], [0.7, 0.02, 0.08, 0.1, 0.1 + 1e-3]])


def staying(result):
    return [(row > GONE).nonzero().flatten().tolist() for row in result]


def test_top_k(filter_logits):
    for k, ids in [(1, [[1], [0]]), (3, [[1, 3, 4], [0, 3, 4]]), (5, [[*range(5)]] * 2), (99, [[*range(5)]] * 2)]:
        assert staying(filter_logits(PROBS.log(), top_k=k)) == ids


def test_top_p_keeps_the_token_that_crosses_p(filter_logits):
    for p, ids in [(1e-6, [[1], [0]]), (0.5, [[1, 3], [0]]), (0.75, [[1, 3, 4], [0, 4]])]:
        assert staying(filter_logits(PROBS.log(), top_p=p)) == ids


def test_min_p_compares_with_the_most_likely_token(filter_logits):
    for p, ids in [(0.99, [[1], [0]]), (0.5, [[1, 3], [0]]), (0.12, [[*range(5)], [0, 3, 4]])]:
        assert staying(filter_logits(PROBS.log(), min_p=p)) == ids


def test_top_p_renormalises_over_what_top_k_left(filter_logits):
    # 0.4 and 0.3 become 0.57 and 0.43.
    logits = PROBS[:1].log()
    assert staying(filter_logits(logits, top_k=2, top_p=0.5)) == [[1]]
    assert staying(filter_logits(logits, top_p=0.5)) == [[1, 3]]


def test_temperature_comes_first(filter_logits):
    logits = PROBS[:1].log()
    torch.testing.assert_close(filter_logits(logits, temperature=0.5), 2 * logits)
    assert staying(filter_logits(logits, top_p=0.5, temperature=0.25)) == [[1]]
    assert staying(filter_logits(logits, min_p=0.5, temperature=4.0)) == [[*range(5)]]


def test_none_0_and_a_top_p_of_1_switch_a_filter_off(filter_logits):
    logits = torch.randn(3, 50)
    for filters in [{}, {"top_k": 0}, {"top_p": 0.0}, {"min_p": 0.0}, {"top_p": 1.0}, {"top_p": 1.5}]:
        torch.testing.assert_close(filter_logits(logits, **filters), logits, rtol=0, atol=0)


@given(
    st.one_of(st.none(), st.integers(0, 9)),
    st.one_of(st.none(), st.floats(0.01, 1.2)),
    st.one_of(st.none(), st.floats(0.01, 0.99)),
    st.sampled_from([0.3, 1.0, 2.0]),
    st.integers(0, 1000),
)
def test_any_filters_together(filter_logits, top_k, top_p, min_p, temperature, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(3, 8, generator=generator, dtype=torch.float64)
    logits[torch.rand(3, 8, generator=generator) < 0.2] = GONE
    logits[:, 5] = torch.randn(3, generator=generator).double()
    check(filter_logits, logits, top_k=top_k, top_p=top_p, min_p=min_p, temperature=temperature)


def test_a_large_vocabulary(filter_logits):
    logits = torch.randn(2, 1000)
    for filters in [{"top_k": 50}, {"top_p": 0.9001}, {"min_p": 0.101}, {"top_k": 300, "top_p": 0.7003}]:
        check(filter_logits, logits, **filters)


def test_among_equal_logits_the_lowest_ids_stay(filter_logits):
    for V in (8, 100):  # sorting is not stable by itself, which shows in long rows
        logits = torch.zeros(2, V)
        logits[1, -1] = 1.0
        for k in (1, 3, V - 1):
            assert staying(filter_logits(logits, top_k=k)) == [[*range(k)], [*range(k - 1), V - 1]]
        assert staying(filter_logits(logits, top_p=2.5 / V))[0] == [0, 1, 2]


def test_a_removed_token_stays_removed(filter_logits):
    logits = torch.tensor([[GONE, 1.0, GONE, 0.0]])
    for filters in [{}, {"top_k": 3}, {"top_p": 0.999}, {"min_p": 1e-9}, {"temperature": 0.5}]:
        assert staying(filter_logits(logits, **filters)) == [[1, 3]]


def test_large_logits_give_no_nan(filter_logits):
    logits = torch.tensor([[1e4, 1e4 - 1, -1e4], [-1e4, -1e4 - 1, -3e4]])
    for filters in [{"top_p": 0.9}, {"top_p": 0.5}, {"min_p": 0.2}, {"top_k": 2, "temperature": 1e-3}]:
        check(filter_logits, logits, **filters)


def test_16_bits_are_computed_in_float32_and_keep_their_dtype(filter_logits):
    for dtype in (torch.float16, torch.bfloat16):
        logits = torch.randn(2, 300).to(dtype)
        for filters in [{"top_k": 7}, {"top_p": 0.9001}, {"min_p": 0.101}, {"temperature": 0.7}]:
            check(filter_logits, logits, **filters)


def test_strided_logits_stay_and_the_result_is_new(filter_logits):
    logits = torch.randn(9, 2).T
    before = logits.clone()
    for filters in [{}, {"top_k": 3}, {"top_p": 0.6}, {"min_p": 0.3}, {"top_k": 99, "top_p": 1.0}]:
        check(filter_logits, logits, **filters)
        filter_logits(logits, **filters).zero_()
        torch.testing.assert_close(logits, before, rtol=0, atol=0)
