"""The row of each token, one at a time, times √D; gradients add up where a row is used again."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(ids, table, scale=True):
    """Look up one row at a time in float64."""
    factor = math.sqrt(table.shape[1]) if scale else 1.0
    return torch.stack([torch.stack([factor * table[i].double() for i in row]) for row in ids.tolist()])


def assert_right(actual, ids, table, scale=True):
    assert actual.dtype == table.dtype and actual.shape == (*ids.shape, table.shape[1])
    # 16 bits: the product is rounded once, √D before it is not.
    rtol = {torch.float64: 1e-12, torch.float32: 1e-6}.get(table.dtype, 0.52 * torch.finfo(table.dtype).eps)
    assert_close(actual.double(), expected(ids, table, scale), rtol=rtol if scale else 0, atol=0)


@given(*[st.integers(1, 5)] * 3, st.sampled_from([1, 2, 7, 16]))
def test_any_sizes(embed_tokens, B, T, V, D):
    ids, table = torch.randint(V, (B, T)), torch.randn(V, D)
    assert_right(embed_tokens(ids, table), ids, table)
    assert_right(embed_tokens(ids, table, scale=False), ids, table, False)


def test_every_id_is_a_token_also_the_first_and_the_last(embed_tokens):
    table = torch.randn(6, 4)
    ids = torch.tensor([[0, 1, 2, 3, 4, 5], [5, 5, 0, 0, 5, 0]])
    assert torch.equal(embed_tokens(ids, table, False)[0], table)
    assert_right(embed_tokens(ids, table), ids, table)


def test_a_large_vocabulary(embed_tokens):
    table, ids = torch.randn(70_000, 3), torch.tensor([[0, 255, 256, 32_768, 65_536, 69_999]])
    assert_right(embed_tokens(ids, table), ids, table)


def test_gradients_add_up_over_all_places_of_a_row(embed_tokens):
    ids, up = torch.tensor([[0, 4, 4], [4, 1, 0]]), torch.randn(2, 3, 5, dtype=torch.float64)
    for scale in (True, False):
        table = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
        (slope,) = torch.autograd.grad(embed_tokens(ids, table, scale), table, up)
        wanted = torch.zeros(6, 5, dtype=torch.float64)
        for b in range(2):
            for t in range(3):
                wanted[ids[b, t]] += up[b, t] * (math.sqrt(5) if scale else 1.0)
        assert_close(slope, wanted)
        assert (slope[[2, 3, 5]] == 0).all()


def test_a_gradient_counts_how_often_a_row_is_used(embed_tokens):
    ids, table = torch.randint(3, (4, 50)), torch.randn(5, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(embed_tokens(ids, table, False).sum(), table)
    assert_close(slope[:, 0], torch.bincount(ids.flatten(), minlength=5).float())


def test_two_calls_before_a_backward_pass_keep_their_ids(embed_tokens):
    table = torch.randn(4, 3, requires_grad=True)
    first, _ = embed_tokens(torch.tensor([[0]]), table), embed_tokens(torch.tensor([[1]]), table)
    (slope,) = torch.autograd.grad(first.sum(), table)
    assert_close(slope[0], torch.full((3,), math.sqrt(3)))
    assert (slope[1:] == 0).all()


def test_the_dtype_of_the_table_is_kept(embed_tokens):
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for D in (1, 5, 64, 300):
            ids, table = torch.randint(9, (3, 4)), torch.randn(9, D).to(dtype)
            assert_right(embed_tokens(ids, table), ids, table)
            assert_right(embed_tokens(ids, table, False), ids, table, False)


def test_any_memory_layout(embed_tokens):
    for table in (torch.randn(5, 7).t(), torch.randn(14, 5)[::2], torch.randn(1, 5).expand(7, 5)):
        for ids in (
            torch.randint(7, (4, 3)).t(),
            torch.randint(7, (3, 8))[:, ::2],
            torch.randint(7, (1, 4)).expand(3, 4),
        ):
            assert_right(embed_tokens(ids, table), ids, table)
            assert_right(embed_tokens(ids, table, False), ids, table, False)


def test_the_result_lies_on_the_device_of_the_table(embed_tokens):
    ids, table = torch.zeros(2, 3, dtype=torch.int64, device="meta"), torch.ones(4, 5, device="meta")
    for scale in (True, False):
        assert embed_tokens(ids, table, scale).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(embed_tokens):
    for shape in ((1, 1), (3, 4)):
        for scale in (True, False):
            ids, table = torch.randint(shape[0], (1, 2)), torch.randn(shape)
            before = ids.clone(), table.clone()
            first = embed_tokens(ids, table, scale)
            kept = first.clone()
            embed_tokens(ids, table, scale).add_(1.0)
            assert torch.equal(ids, before[0]) and torch.equal(table, before[1]) and torch.equal(first, kept)
            table.mul_(2.0)
            assert torch.equal(first, kept)
            assert_right(embed_tokens(ids, table, scale), ids, table, scale)
