"""An oracle that goes through ids in a Python loop, and what must hold for any history."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def expected(logits, ids, penalty):
    out = logits.clone()
    for row, history in enumerate(ids.tolist()):
        for i in set(history):
            logit = float(logits[row, i])
            out[row, i] = logit / penalty if logit > 0 else logit * penalty
    return out


def test_positive_logits_are_divided_and_negative_ones_multiplied(repetition_penalty):
    logits = torch.tensor([[3.0, -3.0, 3.0, -3.0, 0.0]])
    actual = repetition_penalty(logits, torch.tensor([[0, 1, 4]]), 1.5)
    torch.testing.assert_close(actual, torch.tensor([[2.0, -4.5, 3.0, -3.0, 0.0]]))


@given(st.integers(1, 4), st.integers(1, 9), st.integers(0, 20), st.floats(0.1, 10), st.integers(0, 1000))
def test_any_history(repetition_penalty, B, V, T, penalty, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = 10 * torch.randn(B, V, generator=generator)
    ids = torch.randint(0, V, (B, T), generator=generator)
    torch.testing.assert_close(repetition_penalty(logits, ids, penalty), expected(logits, ids, penalty))


def test_an_id_counts_once_however_often_it_occurs(repetition_penalty):
    logits, ids = torch.randn(2, 5), torch.tensor([[0, 3], [1, 1]])
    once = repetition_penalty(logits, ids, 2.0)
    torch.testing.assert_close(repetition_penalty(logits, ids.repeat(1, 7), 2.0), once)
    torch.testing.assert_close(repetition_penalty(logits, ids.flip(1), 2.0), once)


def test_the_whole_of_a_long_history_counts(repetition_penalty):
    logits, ids = torch.ones(1, 9), torch.tensor([[3] + 2000 * [1]])
    assert repetition_penalty(logits, ids, 2.0)[0].tolist() == [1, 0.5, 1, 0.5, 1, 1, 1, 1, 1]


def test_each_row_has_its_own_history(repetition_penalty):
    logits, ids = torch.randn(3, 6), torch.tensor([[0, 1], [5, 5], [2, 0]])
    rows = [repetition_penalty(logits[b : b + 1], ids[b : b + 1], 1.3) for b in range(3)]
    torch.testing.assert_close(repetition_penalty(logits, ids, 1.3), torch.cat(rows))


def test_the_first_and_the_last_id_count(repetition_penalty):
    for token in (0, 6):
        actual = repetition_penalty(torch.ones(1, 7), torch.tensor([[token]]), 4.0)
        assert actual[0].tolist() == [0.25 if i == token else 1.0 for i in range(7)]


def test_without_history_or_with_penalty_1_nothing_changes(repetition_penalty):
    logits = torch.randn(2, 5)
    for ids, penalty in [(torch.zeros(2, 0, dtype=torch.long), 3.0), (torch.tensor([[0, 1], [2, 4]]), 1.0)]:
        torch.testing.assert_close(repetition_penalty(logits, ids, penalty), logits, rtol=0, atol=0)


def test_a_penalty_below_1_makes_repetition_more_likely(repetition_penalty):
    actual = repetition_penalty(torch.tensor([[1.0, -1.0]]), torch.tensor([[0, 1]]), 0.5)
    torch.testing.assert_close(actual, torch.tensor([[2.0, -0.5]]))


def test_a_removed_token_stays_removed(repetition_penalty):
    logits = torch.tensor([[1.0, -math.inf, 2.0, -math.inf]])
    for penalty in (0.5, 2.0):
        actual = repetition_penalty(logits, torch.tensor([[0, 1]]), penalty)
        torch.testing.assert_close(actual, torch.tensor([[1 / penalty, -math.inf, 2.0, -math.inf]]))


def test_absent_tokens_stay_exactly_and_the_others_are_rounded_once(repetition_penalty):
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        logits, ids = torch.randn(2, 50).to(dtype), torch.randint(0, 25, (2, 90))
        for penalty in (1.2, 1.7):
            actual, exact = repetition_penalty(logits, ids, penalty), expected(logits.double(), ids, penalty)
            assert actual.dtype == dtype and torch.equal(actual[:, 25:], logits[:, 25:])
            rtol = (0.51 if dtype.itemsize == 2 else 2) * torch.finfo(dtype).eps
            torch.testing.assert_close(actual.double(), exact, rtol=rtol, atol=0)


def test_transposed_and_expanded_inputs(repetition_penalty):
    logits, ids = torch.randn(6, 3).T, torch.tensor([[1, 4]]).expand(3, 2)
    torch.testing.assert_close(repetition_penalty(logits, ids, 1.5), expected(logits, ids, 1.5))
    logits, ids = torch.randn(1, 6).expand(3, 6), torch.randint(0, 6, (4, 3)).T
    torch.testing.assert_close(repetition_penalty(logits, ids, 1.5), expected(logits, ids, 1.5))


def test_arguments_stay_and_the_result_is_new(repetition_penalty):
    for ids, penalty in [(torch.tensor([[0, 1]]), 2.0), (torch.tensor([[0, 1]]), 1.0), (torch.zeros(1, 0).long(), 2.0)]:
        logits = torch.randn(1, 4)
        before, history = logits.clone(), ids.clone()
        repetition_penalty(logits, ids, penalty).zero_()
        assert torch.equal(logits, before) and torch.equal(ids, history)


def test_the_result_is_on_the_device_of_the_logits(repetition_penalty):
    logits, ids = torch.randn(2, 5), torch.tensor([[0, 1], [2, 2]])
    try:
        result = repetition_penalty(logits.to("meta"), ids.to("meta"), 2.0)
    except NotImplementedError:  # meta holds no data: a solution that reads the ids stops here
        return
    assert result.device.type == "meta"
