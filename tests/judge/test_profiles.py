"""Memory layouts: equal values, and no layout that a view could flatten."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attncli.judge.case import relayout


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 9))
def test_another_layout_holds_the_same_values(shape, turn):
    tensor = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    assert torch.equal(relayout(tensor, turn), tensor)


@given(st.lists(st.integers(2, 4), min_size=2, max_size=4), st.integers(0, 9))
def test_its_last_dimensions_cannot_be_merged_by_a_view(shape, turn):
    tensor = relayout(torch.zeros(shape), turn)
    assert not tensor.is_contiguous()
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        tensor.view(*shape[:-2], -1)


def test_both_layouts_come_in_turns():
    strides = {relayout(torch.zeros(2, 3), turn).stride() for turn in range(4)}
    assert strides == {(1, 2), (7, 2)}
