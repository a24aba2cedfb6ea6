"""Frequencies of many steps against the exact probabilities, and the cases that leave nothing to chance."""

import torch
from hypothesis import given
from hypothesis import strategies as st

RUNS = 1200


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def steps(spec_step, p, q, tokens, runs=RUNS):
    """Run the step with one generator; return the counts of accepted and the next tokens, as tensors."""
    source = generator()
    results = [spec_step(p, q, tokens, source) for _ in range(runs)]
    return torch.tensor([n for n, _ in results]), torch.tensor([token for _, token in results])


def check_frequencies(tokens, probs, tolerance=0.06):
    actual = torch.bincount(tokens, minlength=len(probs)) / len(tokens)
    torch.testing.assert_close(actual, probs.float(), rtol=0, atol=tolerance)


def probabilities(*shape, seed=0):
    return torch.rand(shape, generator=generator(seed)).pow(2).add(0.01).softmax(-1)


P = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
Q = torch.tensor([[0.2, 0.3, 0.5], [0.4, 0.3, 0.3]])


def test_a_token_is_accepted_with_probability_p_over_q(spec_step):
    for token, chance in [(0, 1.0), (1, 1.0), (2, 0.4)]:
        accepted, _ = steps(spec_step, P[:2], Q[:1], torch.tensor([token]))
        assert abs(accepted.float().mean() - chance) < (0.06 if chance < 1 else 1e-9)


def test_each_position_has_its_own_random_number(spec_step):
    # 0.4, then 0.25: both are accepted in a tenth of the steps, the first alone in three tenths.
    accepted, _ = steps(spec_step, P, Q, torch.tensor([2, 0]))
    check_frequencies(accepted, torch.tensor([0.6, 0.3, 0.1]), 0.06)


def test_after_a_rejection_the_residual_is_drawn(spec_step):
    p, q = torch.tensor([[0.4, 0.35, 0.15, 0.1], [0.25] * 4]), torch.tensor([[0.1, 0.15, 0.15, 0.6]])
    accepted, following = steps(spec_step, p, q, torch.tensor([3]))
    check_frequencies(following[accepted == 0], torch.tensor([0.6, 0.4, 0.0, 0.0]))
    assert not ((accepted == 0) & (following >= 2)).any()


def test_after_all_are_accepted_the_last_row_is_drawn(spec_step):
    p = torch.stack([P[0], P[1], torch.tensor([0.5, 0.1, 0.4])])
    accepted, following = steps(spec_step, p, p[:2], torch.tensor([2, 0]))
    assert (accepted == 2).all()
    check_frequencies(following, p[2])


def test_the_output_is_distributed_as_if_the_target_had_sampled_alone(spec_step):
    source, tokens = generator(1), [[], [], []]
    drafts = torch.stack([q.multinomial(RUNS, replacement=True, generator=source) for q in Q], dim=1)
    for draft in drafts:
        accepted, following = spec_step(P, Q, draft, source)
        for place, token in enumerate([*draft[:accepted].tolist(), following]):
            tokens[place].append(token)
    for place in range(3):
        check_frequencies(torch.tensor(tokens[place]), P[place], 0.06)


def test_the_residual_is_independent_of_the_rejecting_number(spec_step):
    # The residual is half and half, whatever the acceptance was.
    for chance in (0.1, 0.5, 0.9):
        p = torch.tensor([[chance / 2, (1 - chance / 2) / 2, (1 - chance / 2) / 2]]).expand(2, 3)
        q = torch.tensor([[0.5, 0.25, 0.25]])
        accepted, following = steps(spec_step, p, q, torch.tensor([0]))
        check_frequencies(following[accepted == 0], torch.tensor([0.0, 0.5, 0.5]), 0.2 if chance > 0.8 else 0.09)


@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 1000))
def test_equal_distributions_always_accept(spec_step, count, V, seed):
    p = probabilities(count + 1, V, seed=seed)
    tokens = p[:count].multinomial(1, generator=generator(seed)).flatten()
    accepted, following = spec_step(p, p[:count], tokens, generator(seed))
    assert accepted == count and 0 <= following < V
    assert isinstance(accepted, int) and isinstance(following, int)


def test_probability_0_is_never_accepted_and_never_drawn(spec_step):
    p, q = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]), torch.tensor([[0.5, 0.0, 0.5]])
    accepted, following = steps(spec_step, p, q, torch.tensor([0]), 500)
    assert not accepted.any() and (following == 1).all()
    _, following = steps(spec_step, torch.stack([q[0], p[1]]), q, torch.tensor([0]))
    assert not (following == 0).any()


def test_the_first_rejection_may_be_at_any_position(spec_step):
    for place in range(10):
        p, q = torch.full((11, 2), 0.5), torch.full((10, 2), 0.5)
        p[place:10] = torch.tensor([0.0, 1.0])
        assert spec_step(p, q, torch.zeros(10, dtype=torch.long), generator()) == (place, 1)


def test_the_ratio_decides_however_small_the_probabilities(spec_step):
    p, q = torch.tensor([[1e-8, 0.6, 0.4], [0.5, 0.5, 0.0]]), torch.tensor([[4e-8, 0.5, 0.5]])
    accepted, _ = steps(spec_step, p, q, torch.tensor([0]))
    assert abs(accepted.float().mean() - 0.25) < 0.06


def test_rows_of_16_bits_need_not_add_up_to_1(spec_step):
    for dtype in (torch.float16, torch.bfloat16):
        p, q = P.to(dtype), Q.to(dtype)
        accepted, _ = steps(spec_step, p, q, torch.tensor([2, 0]))
        check_frequencies(accepted, torch.tensor([0.6, 0.3, 0.1]), 0.06)

    # In bfloat16 230 such numbers add up to 0.997. Each must come, and none of those behind them.
    row = torch.tensor([1 / 230] * 230 + [0.0] * 20).bfloat16().expand(2, 250)
    _, following = steps(spec_step, row, row[:1], torch.tensor([0]))
    assert following.max() < 230 and len(following.unique()) > 215


def test_random_numbers_and_sums_are_finer_than_16_bits(spec_step):
    # 1,200 draws from 1,000 equal tokens give about 700 of them; bfloat16 knows 128 numbers from ½ to 1.
    row = torch.full((2, 1000), 1 / 1000).bfloat16()
    _, following = steps(spec_step, row, row[:1], torch.tensor([0]))
    assert len(following.unique()) > 600
    # A chance of 10⁻⁴, where one of 256 equal numbers would be 0.
    p, q = torch.tensor([[1e-4, 1.0], [0.5, 0.5]]).bfloat16(), torch.tensor([[1.0, 0.0]]).bfloat16()
    accepted, _ = steps(spec_step, p, q, torch.tensor([0]), 3000)
    assert accepted.sum() <= 3


def test_equal_states_give_equal_results_and_calls_advance_them(spec_step):
    p = torch.full((4, 50), 0.02)
    tokens = torch.tensor([1, 2, 3])
    one, other, state = generator(7), generator(7), torch.get_rng_state()
    first = [spec_step(p, p[:3], tokens, one) for _ in range(10)]
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(99)
    assert [spec_step(p, p[:3], tokens, other) for _ in range(10)] == first
    assert len(set(first)) > 5


def test_strided_arguments_stay_as_they_are(spec_step):
    p, q, tokens = P.T.contiguous().T, Q.repeat_interleave(2, dim=1)[:, ::2], torch.tensor([2, 9, 0])[::2]
    before = p.clone(), q.clone(), tokens.clone()
    accepted, _ = steps(spec_step, p, q, tokens)
    check_frequencies(accepted, torch.tensor([0.6, 0.3, 0.1]), 0.06)
    torch.testing.assert_close((p, q, tokens), before, rtol=0, atol=0)
