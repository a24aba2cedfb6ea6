"""A model of the cache, slot by slot in plain Python loops, and the memory behind the views."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st


class Model:
    """Keep float copies of both buffers and write one slot at a time."""

    def __init__(self, B, G, max_len, d, dtype=torch.float32):
        self.k, self.v = torch.zeros(B, G, max_len, d, dtype=dtype), torch.zeros(B, G, max_len, d, dtype=dtype)

    def update(self, k, v, pos):
        n = k.shape[2]
        for b, first in enumerate(pos.tolist()):
            for i in range(n):
                self.k[b, :, first + i], self.v[b, :, first + i] = k[b, :, i], v[b, :, i]
        L = max(pos.tolist()) + n
        return self.k[:, :, :L], self.v[:, :, :L]


def tokens(B, G, n, d):
    return torch.randn(B, G, n, d), torch.randn(B, G, n, d)


def check(cache, model, k, v, pos):
    torch.testing.assert_close(cache.update(k, v, pos), model.update(k, v, pos), rtol=0, atol=0)


def test_a_prompt_and_then_token_by_token(StaticKVCache):
    cache, model = StaticKVCache(2, 3, 8, 4), Model(2, 3, 8, 4)
    check(cache, model, *tokens(2, 3, 4, 4), torch.tensor([0, 0]))
    for t in range(4, 8):
        check(cache, model, *tokens(2, 3, 1, 4), torch.tensor([t, t]))


def test_rows_at_different_positions(StaticKVCache):
    cache, model = StaticKVCache(3, 1, 10, 2), Model(3, 1, 10, 2)
    check(cache, model, *tokens(3, 1, 2, 2), torch.tensor([0, 5, 3]))
    check(cache, model, *tokens(3, 1, 1, 2), torch.tensor([9, 0, 3]))


def test_going_back_overwrites_and_keeps_what_is_behind(StaticKVCache):
    cache, model = StaticKVCache(1, 2, 6, 4), Model(1, 2, 6, 4)
    check(cache, model, *tokens(1, 2, 6, 4), torch.tensor([0]))
    check(cache, model, *tokens(1, 2, 2, 4), torch.tensor([1]))  # returns three slots
    check(cache, model, *tokens(1, 2, 1, 4), torch.tensor([5]))  # the slots between are the old ones


@given(st.lists(st.tuples(st.lists(st.integers(0, 9), min_size=2, max_size=2), st.integers(1, 3)), max_size=8))
def test_any_updates(StaticKVCache, updates):
    cache, model = StaticKVCache(2, 2, 12, 3), Model(2, 2, 12, 3)
    for pos, n in updates:
        check(cache, model, *tokens(2, 2, n, 3), torch.tensor(pos))


def test_an_update_that_does_not_fit_writes_nothing(StaticKVCache):
    cache, model = StaticKVCache(2, 1, 4, 2), Model(2, 1, 4, 2)
    check(cache, model, *tokens(2, 1, 3, 2), torch.tensor([0, 0]))
    for pos, n in [((0, 3), 2), ((4, 0), 1), ((0, 0), 5), ((0, 100), 1)]:
        with pytest.raises(ValueError):
            cache.update(*tokens(2, 1, n, 2), torch.tensor(pos))
    check(cache, model, *tokens(2, 1, 1, 2), torch.tensor([3, 3]))  # the last slot still fits


def test_new_tokens_are_cast_to_the_dtype_of_the_cache(StaticKVCache):
    assert StaticKVCache(1, 1, 2, 2).update(*tokens(1, 1, 1, 2), torch.tensor([0]))[0].dtype == torch.float32
    for kept in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for new in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            cache, model = StaticKVCache(1, 2, 4, 3, dtype=kept), Model(1, 2, 4, 3, kept)
            check(cache, model, *(x.to(new) for x in tokens(1, 2, 2, 3)), torch.tensor([1]))


def test_the_views_share_one_memory_from_step_to_step(StaticKVCache):
    cache = StaticKVCache(2, 2, 8, 4)
    first_k, first_v = cache.update(*tokens(2, 2, 3, 4), torch.tensor([0, 0]))
    later_k, later_v = cache.update(*tokens(2, 2, 1, 4), torch.tensor([7, 2]))
    assert later_k.data_ptr() == first_k.data_ptr() and later_v.data_ptr() == first_v.data_ptr()
    assert first_k.data_ptr() != first_v.data_ptr()


def test_two_caches_share_nothing(StaticKVCache):
    one, other, model = StaticKVCache(1, 1, 4, 2), StaticKVCache(1, 1, 4, 2), Model(1, 1, 4, 2)
    one.update(*tokens(1, 1, 4, 2), torch.tensor([0]))
    check(other, model, *tokens(1, 1, 1, 2), torch.tensor([3]))


def test_tokens_are_copied_in_and_arguments_stay(StaticKVCache):
    cache, model = StaticKVCache(2, 1, 4, 2), Model(2, 1, 4, 2)
    k, v = tokens(2, 1, 4, 2)
    pos, before = torch.tensor([0, 0]), (k.clone(), v.clone())
    K, V = cache.update(k, v, pos)
    model.update(k, v, pos)
    assert torch.equal(k, before[0]) and torch.equal(v, before[1]) and pos.tolist() == [0, 0]
    k.fill_(7.0), v.fill_(7.0), pos.fill_(3)
    torch.testing.assert_close((K, V), (model.k, model.v), rtol=0, atol=0)
    check(cache, model, *tokens(2, 1, 1, 2), torch.tensor([1, 2]))


def test_transposed_and_expanded_tokens(StaticKVCache):
    cache, model = StaticKVCache(2, 3, 6, 4), Model(2, 3, 6, 4)
    k, v = torch.randn(2, 5, 3, 4).transpose(1, 2), torch.randn(1, 3, 1, 8)[..., ::2].expand(2, 3, 5, 4)
    check(cache, model, k, v, torch.tensor([1, 0]))


def test_the_buffers_are_on_the_device_that_is_given(StaticKVCache):
    k, v = (x.to("meta") for x in tokens(1, 1, 1, 2))
    for view in StaticKVCache(1, 1, 4, 2, device="meta").update(k, v, torch.tensor([0])):
        assert view.device.type == "meta" and view.shape == (1, 1, 1, 2)
