"""A model of the scaler in four lines, run along any good and bad steps, and what happens to the gradients."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def scale_of(scaler):
    return scaler.scale(torch.tensor(1.0, dtype=torch.float64)).item()


def advance(scaler, good):
    """Take one step, with a gradient that overflowed if it is to be a bad one."""
    assert scaler.step([torch.tensor([1.0 if good else math.inf])]) is good
    scaler.update()


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 5), st.sampled_from([(2.0, 0.5), (4.0, 0.25), (1.5, 0.75)]))
def test_the_scale_follows_the_steps(DynamicScaler, steps, interval, factors):
    growth, backoff = factors
    scaler, scale, in_a_row = DynamicScaler(1024.0, growth, backoff, interval), 1024.0, 0
    for good in steps:
        advance(scaler, good)
        in_a_row = in_a_row + 1 if good else 0
        scale *= 1.0 if good else backoff
        if in_a_row == interval:
            scale, in_a_row = scale * growth, 0
        assert math.isclose(scale_of(scaler), scale, rel_tol=1e-9)


def test_the_defaults(DynamicScaler):
    scaler = DynamicScaler()
    assert scale_of(scaler) == 2.0**16
    for _ in range(1999):
        advance(scaler, True)
    assert scale_of(scaler) == 2.0**16
    advance(scaler, True)
    assert scale_of(scaler) == 2.0**17
    advance(scaler, False)
    assert scale_of(scaler) == 2.0**16


def test_update_alone_changes_the_scale(DynamicScaler):
    scaler = DynamicScaler(8.0, interval=1)
    for value, after in ((1.0, 16.0), (math.nan, 8.0)):
        before = scale_of(scaler)
        scaler.step([torch.tensor([value])])
        assert scale_of(scaler) == before
        scaler.update()
        assert scale_of(scaler) == after


def test_the_scale_may_fall_below_one(DynamicScaler):
    scaler = DynamicScaler(1.0)
    for n in range(1, 30):
        advance(scaler, False)
        assert scale_of(scaler) == 2.0**-n


def test_a_loss_is_scaled_in_its_dtype_with_its_gradient(DynamicScaler):
    scaler = DynamicScaler(4096.0)
    for dtype in (torch.float32, torch.float64):
        x = torch.tensor([0.1, -0.7], dtype=dtype, requires_grad=True)
        loss = x.square().sum()
        scaled = scaler.scale(loss)
        assert scaled.dtype == dtype and scaled.shape == ()
        assert_close(scaled, 4096.0 * loss)
        (slope,) = torch.autograd.grad(scaled, x)
        assert_close(slope, 4096.0 * 2 * x.detach())


def test_a_good_step_divides_every_gradient_in_place(DynamicScaler):
    for scale in (1.0, 3.0, 1024.0):
        grads = [torch.randn(shape) for shape in ((), (1,), (4,), (2, 3), (2, 1, 5))]
        before = [g.clone() for g in grads]
        same = list(grads)
        assert DynamicScaler(scale).step(grads) is True
        assert len(grads) == len(same) and all(g is old for g, old in zip(grads, same, strict=True))
        for g, old in zip(grads, before, strict=True):
            assert_close(g, old / scale)


def test_a_bad_step_leaves_every_gradient(DynamicScaler):
    for bad in (math.inf, -math.inf, math.nan):
        for place in range(3):  # wherever the bad number is
            for index in (0, 5):
                grads = [torch.randn(6) for _ in range(3)]
                grads[place][index] = bad
                before = [g.clone() for g in grads]
                scaler = DynamicScaler(256.0)
                assert scaler.step(grads) is False
                assert_close(grads, before, rtol=0, atol=0, equal_nan=True)
                scaler.update()
                assert scale_of(scaler) == 128.0


def test_finite_gradients_are_good_however_large(DynamicScaler):
    # Their sum, their norm and a product with them may overflow or cancel.
    for values in ([3e38, 3e38], [3e38, -3e38], [1e30] * 4, [0.0, 0.0]):
        grads = [torch.tensor(values)]
        assert DynamicScaler(2.0).step(grads) is True
        assert_close(grads[0], torch.tensor(values) / 2)
    half = [torch.full((64,), 65504.0).half()]
    assert DynamicScaler(2.0).step(half) is True
    assert_close(half[0], torch.full((64,), 32752.0).half())


def test_infinities_do_not_cancel(DynamicScaler):
    assert DynamicScaler().step([torch.tensor([math.inf, -math.inf])]) is False
    assert DynamicScaler().step([torch.tensor([math.inf]), torch.tensor([-math.inf])]) is False


def test_float16_gradients_are_divided_in_float32_and_rounded_once(DynamicScaler):
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        for scale in (3.0, 1000.0, 2.0**17, 1e6, 2.0**-3):
            grad = (100 * torch.randn(500)).to(dtype)
            wanted = grad.double() / scale
            assert DynamicScaler(scale).step([grad]) is True
            assert grad.dtype == dtype
            info = torch.finfo(dtype)
            assert_close(grad.double(), wanted, rtol=max(0.52 * info.eps, 1e-7), atol=0.52 * info.eps * info.tiny)


def test_gradients_of_several_dtypes(DynamicScaler):
    grads = [torch.ones(2).half(), torch.ones(3), torch.ones(1, dtype=torch.float64)]
    assert DynamicScaler(8.0).step(grads) is True
    assert [g[0].item() for g in grads] == [0.125] * 3


def test_a_whole_training_step_gives_the_plain_gradient(DynamicScaler):
    weight, x = torch.randn(3, 2, requires_grad=True), torch.randn(5, 3)
    loss = (x @ weight).square().mean()
    (plain,) = torch.autograd.grad(loss, weight, retain_graph=True)
    scaler = DynamicScaler(2.0**10)
    scaler.scale(loss).backward()
    assert scaler.step([weight.grad]) is True
    assert_close(weight.grad, plain)


def test_strided_gradients_are_divided_in_place(DynamicScaler):
    for view in (lambda g: g.t(), lambda g: g[:, ::2], lambda g: g[1:]):
        base = torch.ones(4, 6)
        view_before = torch.ones_like(view(base))
        assert DynamicScaler(4.0).step([view(base)]) is True
        assert torch.equal(view(base), view_before / 4)
        assert base.sum().item() == 24 - 0.75 * view_before.numel()


def test_the_loss_stays_and_keeps_its_device(DynamicScaler):
    for init in (1.0, 16.0):
        loss = torch.tensor(3.0)
        DynamicScaler(init).scale(loss).add_(1.0)
        assert loss.item() == 3.0
    assert DynamicScaler().scale(torch.ones((), device="meta")).device.type == "meta"


def test_scalers_share_nothing(DynamicScaler):
    one, other = DynamicScaler(64.0, interval=2), DynamicScaler(64.0, interval=2)
    advance(one, True)
    advance(other, True)
    advance(one, False)
    assert scale_of(one) == 32.0 and scale_of(other) == 64.0
    advance(other, True)
    assert scale_of(one) == 32.0 and scale_of(other) == 128.0
