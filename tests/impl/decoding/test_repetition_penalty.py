"""repetition-penalty: compare number by number in Python, and check its laws."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ..conftest import IMPL, load

repetition_penalty = load(IMPL / "decoding/repetition-penalty/reference.py").repetition_penalty
V = 4
ROW = st.tuples(
    st.lists(st.floats(-9, 9), min_size=V, max_size=V), st.lists(st.integers(0, V - 1), min_size=3, max_size=3)
)


@settings(deadline=None, derandomize=True, database=None, max_examples=100)
@given(st.lists(ROW, min_size=1, max_size=3), st.floats(0.1, 9))
def test_each_number_is_divided_or_multiplied_once(rows: list[tuple[list[float], list[int]]], penalty: float) -> None:
    logits = torch.tensor([row for row, _ in rows], dtype=torch.float64)
    ids = torch.tensor([history for _, history in rows])
    due = [
        [x if i not in history else x / penalty if x > 0 else x * penalty for i, x in enumerate(row)]
        for row, history in rows
    ]
    assert repetition_penalty(logits, ids, penalty).tolist() == due
    back = repetition_penalty(repetition_penalty(logits, ids, penalty), ids, 1 / penalty)
    assert torch.allclose(back, logits, rtol=1e-12, atol=1e-300)
