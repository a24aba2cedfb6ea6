"""Models that follow a script or a fixed distribution: what they are fed, what is drawn, and from which generator."""

import torch
from hypothesis import given
from hypothesis import strategies as st

V = 7


class Scripted:
    """Answer row by row from `script` (B, n), step by step; the logits before the last position mislead."""

    def __init__(self, script, dtype=torch.float32):
        self.script, self.dtype, self.fed, self.caches = torch.tensor(script), dtype, [], []

    def __call__(self, ids, cache):
        assert cache is (self.caches[-1] if self.caches else None)
        step = min(len(self.fed), self.script.shape[1] - 1)  # one extra call is allowed
        self.fed.append(ids.clone())
        self.caches.append({"step": step})
        logits = torch.zeros(*ids.shape, V)
        logits[:, :-1, 6] = 90.0
        logits[:, -1].scatter_(1, self.script[:, step : step + 1], 80.0)
        return logits.to(self.dtype), self.caches[-1]


class Fixed:
    """Give every row the same distribution at every step, from higher logits in every second row."""

    def __init__(self, probs, dtype=torch.float32):
        self.logits, self.dtype = torch.tensor(probs).log(), dtype

    def __call__(self, ids, cache):
        higher = 8.0 * (torch.arange(len(ids)) % 2).reshape(-1, 1, 1)
        return (self.logits.expand(*ids.shape, -1) + higher).to(self.dtype), None


def expected(prompt, script, eos, max_new):
    rows, n = [], 0
    for tokens in script:
        end = tokens.index(eos) + 1 if eos in tokens[:max_new] else max_new
        rows.append(tokens[:end] + [eos] * (max_new - end))
        n = max(n, end)
    return [start + row[:n] for start, row in zip(prompt.tolist(), rows, strict=True)]


def check(generate, script, max_new, eos=None, **options):
    prompt = torch.randint(0, V, (len(script), 3))
    model, before = Scripted(script), prompt.clone()
    result = generate(model, prompt, max_new, eos, **options)
    rows = expected(prompt, script, eos, max_new)
    assert result.dtype == torch.long and result.tolist() == rows and torch.equal(prompt, before)
    n = len(rows[0]) - 3
    assert n <= len(model.fed) <= n + 1
    assert torch.equal(model.fed[0], before)
    for step, ids in enumerate(model.fed[1:]):
        assert ids.shape == (len(script), 1)
        for row, tokens in enumerate(script):
            if eos not in tokens[: step + 1]:  # a finished row may be fed anything
                assert ids[row] == tokens[step]


def frequencies(tokens, size):
    return torch.bincount(tokens.flatten(), minlength=size) / tokens.numel()


def check_drawn(generate, model, probs, **options):
    """Draw two tokens in 8,000 rows: each must have its probability, and pairs their product."""
    prompt, generator = torch.zeros(8000, 1, dtype=torch.long), torch.Generator().manual_seed(1)
    out = generate(model, prompt, 2, generator=generator, **options)
    probs, size = torch.tensor(probs), len(probs)
    for step in (1, 2):
        torch.testing.assert_close(frequencies(out[:, step], size), probs, rtol=0, atol=0.03)
    pairs = frequencies(size * out[:, 1] + out[:, 2], size * size)
    torch.testing.assert_close(pairs, torch.outer(probs, probs).flatten(), rtol=0, atol=0.03)
    assert not frequencies(out[:, 1:], size)[probs == 0].any()


def test_the_script_is_followed_with_and_without_drawing(generate):
    script = [[5, 0, 3, 1], [2, 2, 4, 0]]
    for options in [{"temperature": 0.0}, {"temperature": 1.0}, {"top_k": 1}, {"temperature": 0.5, "top_k": V}]:
        for max_new in (1, 2, 4):
            check(generate, script, max_new, **options)


@given(
    st.lists(st.lists(st.integers(0, V - 1), min_size=8, max_size=8), min_size=1, max_size=4),
    st.integers(1, 8),
    st.one_of(st.none(), st.integers(0, V - 1)),
)
def test_any_script_and_any_eos(generate, script, max_new, eos):
    for temperature in (0.0, 1.0):
        check(generate, script, max_new, eos, temperature=temperature)


def test_0_is_an_eos_like_any_other(generate):
    check(generate, [[5, 0, 3, 1, 1], [0, 2, 4, 4, 1]], 5, eos=0, temperature=0.0)


def test_an_eos_in_the_prompt_ends_nothing(generate):
    prompt = torch.tensor([[3, 3], [3, 5]])
    assert generate(Scripted([[1, 3], [2, 4]]), prompt, 2, eos=3).tolist() == [[3, 3, 1, 3], [3, 5, 2, 4]]


def test_max_new_0_gives_a_copy_of_the_prompt(generate):
    prompt = torch.tensor([[1, 2]])
    result = generate(Scripted([[5]]), prompt, 0, eos=1)
    assert result.tolist() == [[1, 2]]
    result.zero_()
    assert prompt.tolist() == [[1, 2]]


def test_greedy_takes_the_lowest_id_and_draws_nothing(generate):
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    out = generate(Fixed([0.1, 0.3, 0.3, 0.3]), torch.zeros(2, 1).long(), 3, temperature=0, generator=generator)
    assert out[:, 1:].tolist() == [[1, 1, 1]] * 2 and torch.equal(generator.get_state(), state)


def test_greedy_takes_the_largest_however_close(generate):
    logits = torch.tensor([1.0, 10.0, 10.00001, 10.0])

    def model(ids, cache):
        return logits.expand(*ids.shape, -1), None

    result = generate(model, torch.zeros(1, 1).long(), 1, temperature=0)
    assert result.tolist() == [[0, 2]]


def test_tokens_are_drawn_independently_from_the_softmax(generate):
    probs = [0.5, 0.0, 0.2, 0.3]
    check_drawn(generate, Fixed(probs), probs)


def test_temperature_and_top_k(generate):
    model = Fixed([0.1, 0.2, 0.3, 0.4])
    check_drawn(generate, model, [1 / 30, 4 / 30, 9 / 30, 16 / 30], temperature=0.5)
    check_drawn(generate, model, [0.0, 2 / 9, 3 / 9, 4 / 9], top_k=3)
    check_drawn(generate, model, [0.0, 0.0, 9 / 25, 16 / 25], top_k=2, temperature=0.5)
    check_drawn(generate, model, [0.1, 0.2, 0.3, 0.4], top_k=4)


def test_a_tiny_temperature_still_draws_in_16_bits_too(generate):
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        model = Fixed([0.05, 0.4, 0.15, 0.4], dtype)
        check_drawn(generate, model, [0.0, 0.5, 0.0, 0.5], temperature=1e-6)
        check_drawn(generate, model, [0.0, 0.5, 0.0, 0.5], temperature=1e-6, top_k=3)


def test_randomness_comes_from_the_generator_alone(generate):
    model, prompt = Fixed([0.25] * 4), torch.zeros(3, 1).long()
    generator, other = torch.Generator().manual_seed(7), torch.Generator().manual_seed(7)
    state = torch.get_rng_state()
    first = generate(model, prompt, 20, generator=generator)
    second = generate(model, prompt, 20, generator=generator)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(99)
    assert torch.equal(generate(model, prompt, 20, generator=other), first)
    assert not torch.equal(first, second)


def test_without_a_generator_the_global_one_is_used(generate):
    model, prompt = Fixed([0.25] * 4), torch.zeros(3, 1).long()
    torch.manual_seed(5)
    first, second = generate(model, prompt, 20), generate(model, prompt, 20)
    torch.manual_seed(5)
    assert torch.equal(generate(model, prompt, 20), first) and not torch.equal(first, second)
