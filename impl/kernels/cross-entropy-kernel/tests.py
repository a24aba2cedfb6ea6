"""torch's cross-entropy and its gradient in float64 as the oracle, for rows longer than a block, and rows that count for nothing."""

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

INF = float("inf")


def expected(logits, targets, ignore_index=-100):
    wide = logits.double().detach().requires_grad_()
    losses = F.cross_entropy(wide, targets, ignore_index=ignore_index, reduction="none")
    (gradient,) = torch.autograd.grad(losses.sum(), wide)
    return losses.detach(), gradient


def drawn(N=4, V=9, scale=2.0):
    return scale * torch.randn(N, V), torch.randint(V, (N,))


def assert_right(cross_entropy, logits, targets, *ignore_index):
    losses, gradient = cross_entropy(logits, targets, *ignore_index)
    exact, slope = expected(logits, targets, *ignore_index)
    assert losses.shape == targets.shape and losses.dtype == torch.float32
    assert gradient.shape == logits.shape and gradient.dtype == logits.dtype
    assert_close(losses.double(), exact, rtol=1e-5, atol=1e-5)
    # 16 bits: half a unit in the last place, and half the smallest number.
    rounding = 0.5 * torch.finfo(logits.dtype).eps if logits.dtype == torch.float16 else 0.0
    # The log-sum-exp is a float32 number too: its error grows with the logits, and the softmax has it as a factor.
    size = float(logits[logits.isfinite()].abs().max())
    rtol = 2e-5 + rounding + 4 * torch.finfo(torch.float32).eps * size
    assert_close(gradient.double(), slope, rtol=rtol, atol=1e-6 if rounding == 0 else 3e-7)


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(1, 40))
def test_any_shape(cross_entropy, N, V):
    assert_right(cross_entropy, *drawn(N, V))


def test_rows_of_any_length(cross_entropy):
    for V in (1, 2, 31, 33, 127, 128, 129, 1000, 1023, 1025, 2049, 3000, 4097, 5000):
        assert_right(cross_entropy, *drawn(2, V))


def test_any_number_of_rows(cross_entropy):
    for N in (1, 15, 16, 17, 33, 50):
        assert_right(cross_entropy, *drawn(N, 5))


def test_the_target_may_be_any_class(cross_entropy):
    for target in (0, 1, 1023, 1024, 2999):
        assert_right(cross_entropy, drawn(1, 3000)[0], torch.tensor([target]))


def test_a_gradient_adds_up_to_zero_and_rows_do_not_share_it(cross_entropy):
    logits, targets = drawn(6, 100)
    _, gradient = cross_entropy(logits, targets)
    assert_close(gradient.sum(dim=1), torch.zeros(6), rtol=0.0, atol=1e-5)
    _, single = cross_entropy(logits[2:3], targets[2:3])
    assert_close(single[0], gradient[2])  # that of the sum, so N has no influence


def test_an_ignored_row_has_no_loss_and_no_gradient(cross_entropy):
    for V in (9, 3000):
        logits, targets = drawn(5, V)
        for ignore_index in (-100, -1, 3, 100000):
            marked = targets.masked_fill(targets == 3, 4)
            marked[1] = marked[4] = ignore_index
            assert_right(cross_entropy, logits, marked, *([] if ignore_index == -100 else [ignore_index]))
            losses, gradient = cross_entropy(logits, marked, ignore_index)
            assert losses[1] == losses[4] == 0 and not gradient[[1, 4]].any()


def test_all_rows_may_be_ignored(cross_entropy):
    losses, gradient = cross_entropy(drawn(3, 9)[0], torch.full((3,), -100))
    assert not losses.any() and not gradient.any()


def test_large_logits_rising_or_falling(cross_entropy):
    for V in (5, 100, 5000):
        for size in (20.0, 1e4):
            rising = torch.linspace(-size, size, V)
            logits = torch.stack([rising, rising.flip(0), rising - size, rising + size])
            assert_right(cross_entropy, logits, torch.randint(V, (4,)))


def test_a_maximum_anywhere_rescales_what_came_before(cross_entropy):
    for place in (0, 1023, 1024, 4095, 4096, 4999):
        logits, targets = drawn(1, 5000)
        logits[0, place] = 12.0
        assert_right(cross_entropy, logits, targets)


def test_classes_that_are_masked_out(cross_entropy):
    for V in (9, 5000):
        logits, _ = drawn(4, V)
        logits[0, : V // 2], logits[1, V // 2 :], logits[2, :-1], logits[3, 1:] = -INF, -INF, -INF, -INF
        assert_right(cross_entropy, logits, torch.tensor([V - 1, 0, V - 1, 0]))


def test_float16_logits_have_float32_losses(cross_entropy):
    for V in (9, 5000):
        for scale in (1.0, 10.0):
            logits, targets = drawn(3, V, scale)
            assert_right(cross_entropy, logits.half(), targets)
    assert_right(cross_entropy, torch.zeros(1, 5000).half(), torch.tensor([7]))


def test_views(cross_entropy):
    targets = torch.randint(9, (10,))[::2]
    assert_right(cross_entropy, torch.randn(9, 5).T, targets)
    assert_right(cross_entropy, torch.randn(5, 18)[:, ::2], targets)
    assert_right(cross_entropy, torch.randn(1, 9).expand(5, 9), targets[:1].expand(5))
    assert_right(cross_entropy, torch.randn(5, 20)[:, 3:12], targets)


def test_arguments_stay_as_they_are(cross_entropy):
    logits, targets = drawn()
    before = logits.clone(), targets.clone()
    first = cross_entropy(logits, targets)
    assert torch.equal(logits, before[0]) and torch.equal(targets, before[1])
    assert all(map(torch.equal, cross_entropy(logits, targets), first))
