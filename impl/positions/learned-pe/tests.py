"""Everything is tested against the module's one parameter, wherever it lies: its rows are added, and its rows learn."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def table_of(module):
    (table,) = module.parameters()
    return table


def test_the_table_is_the_only_parameter_and_trains(LearnedPositional):
    for max_len, D in ((7, 4), (4, 7), (1, 1)):
        table = table_of(LearnedPositional(max_len, D))
        assert table.shape == (max_len, D) and table.requires_grad


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 5), st.integers(0, 4), st.integers(0, 3))
def test_the_rows_from_start_are_added(LearnedPositional, B, T, D, start, more):
    module, x = LearnedPositional(start + T + more, D), torch.randn(B, T, D)
    assert_close(module(x, start), x + table_of(module)[start : start + T])


def test_start_is_zero_by_default(LearnedPositional):
    module, x = LearnedPositional(6, 4), torch.randn(2, 3, 4)
    assert_close(module(x), x + table_of(module)[:3])


def test_every_row_can_be_told_apart(LearnedPositional):
    # Initial values are free, even zeros, so set them.
    module = LearnedPositional(5, 3)
    with torch.no_grad():
        table_of(module).copy_(torch.arange(15.0).reshape(5, 3))
    for start in range(5):
        assert_close(module(torch.zeros(2, 1, 3), start), table_of(module)[start].expand(2, 1, 3))


def test_positions_outside_the_table_are_an_error_in_either_mode(LearnedPositional):
    module, x = LearnedPositional(6, 4), torch.randn(2, 3, 4)
    for training in (True, False):
        module.train(training)
        module(x, 3)  # the last three positions still fit
        for start in (-1, -3, 4, 6, 100):
            with pytest.raises(ValueError):
                module(x, start)
        with pytest.raises(ValueError):
            module(torch.randn(1, 7, 4))


def test_used_rows_learn_and_all_others_do_not(LearnedPositional):
    module = LearnedPositional(6, 4)
    for start in (0, 2, 3):  # row 0 trains like any other
        x, up = torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 3, 4)
        x_slope, slope = torch.autograd.grad(module(x, start), (x, table_of(module)), up)
        exact = torch.zeros(6, 4)
        exact[start : start + 3] = up.sum(0)
        assert_close(slope, exact)
        assert_close(x_slope, up)


def test_training_and_evaluation_agree(LearnedPositional):
    module, x = LearnedPositional(4, 3), torch.randn(2, 4, 3)
    assert torch.equal(module.train()(x), module.eval()(x))


def test_the_position_follows_from_start_alone(LearnedPositional):
    module, x = LearnedPositional(8, 3), torch.randn(2, 2, 3)
    state = {name: value.clone() for name, value in module.state_dict().items()}
    first = module(x)
    module(x, 5)
    assert torch.equal(module(x), first)
    after = module.state_dict()
    assert after.keys() == state.keys() and all(torch.equal(after[name], state[name]) for name in state)


def test_two_modules_share_nothing(LearnedPositional):
    one, other, x = LearnedPositional(4, 3), LearnedPositional(4, 3), torch.randn(1, 4, 3)
    before = other(x).detach()
    with torch.no_grad():
        table_of(one).add_(1.0)
    assert torch.equal(other(x), before)
    other(x).sum().backward()
    assert table_of(one).grad is None


def test_the_result_has_the_dtype_of_x_and_is_rounded_once(LearnedPositional):
    dtypes = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    for of_table in (torch.float32, torch.bfloat16):
        module = LearnedPositional(6, 4).to(of_table)
        for dtype in dtypes:
            x = torch.randn(2, 3, 4, dtype=torch.float64).to(dtype)
            result = module(x, 1)
            assert result.dtype == dtype
            exact = x.double() + table_of(module)[1:4].double()
            eps = torch.finfo(dtype).eps
            assert_close(result.double(), exact, rtol=eps / 2, atol=1e-7 if eps > 1e-9 else 1e-15)


def test_any_memory_layout(LearnedPositional):
    module = LearnedPositional(6, 4)
    for x in (torch.randn(4, 3, 2).permute(2, 1, 0), torch.randn(2, 3, 8)[..., ::2], torch.randn(4).expand(2, 3, 4)):
        assert_close(module(x, 2), x + table_of(module)[2:5])


def test_device_arguments_and_memory(LearnedPositional):
    assert LearnedPositional(4, 3).to("meta")(torch.ones(1, 2, 3, device="meta")).device.type == "meta"
    module, x = LearnedPositional(4, 3), torch.randn(2, 2, 3)
    x_before = x.clone()
    result = module(x)
    kept = result.clone()
    assert torch.equal(x, x_before)
    with torch.no_grad():
        x.zero_(), table_of(module).zero_()
    assert torch.equal(result, kept)
