"""Compare int4 codes with a loop over plain numbers, byte by byte, and check the errors for unsuitable row lengths."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

quantize_int4 = load(IMPL / "quantisation/int4-group-quant/reference.py").quantize_int4


@pytest.mark.parametrize("O, I, group", [(1, 2, 1), (3, 12, 3), (2, 30, 15), (4, 64, 32), (2, 8, 8)])
@pytest.mark.parametrize("kind", ["normal", "outlier", "zero group", "constant"])
def test_bytes_are_those_of_a_loop_over_numbers(O: int, I: int, group: int, kind: str) -> None:
    w = torch.randn(O, I, dtype=torch.float64)
    w[0, :group] = {"normal": w[0, 0], "outlier": -50.0, "zero group": 0.0, "constant": 1.0}[kind]
    packed, scales = quantize_int4(w, group)
    assert packed.dtype == torch.uint8 and packed.shape == (O, I // 2) and scales.shape == (O, I // group)
    for row, row_bytes, row_scales in zip(w.tolist(), packed.tolist(), scales.tolist(), strict=True):
        for i, x in enumerate(row):
            run = row[i // group * group :][:group]
            scale = max(abs(y) for y in run) / 7
            code = round(x / scale) if scale else 0
            assert row_bytes[i // 2] // (16 if i % 2 else 1) % 16 == code % 16
            assert row_scales[i // group] == pytest.approx(scale) or not scale


def test_a_byte_by_hand() -> None:
    packed, scales = quantize_int4(torch.tensor([[7.0, -1.0, -7.0, 3.0]]), 4)
    assert packed.tolist() == [[0xF7, 0x39]] and scales.tolist() == [[1.0]]


@pytest.mark.parametrize("I, group", [(5, 5), (8, 3), (4, 8)])
def test_rows_that_do_not_fit_are_refused(I: int, group: int) -> None:
    with pytest.raises(ValueError, match="group"):
        quantize_int4(torch.ones(2, I), group)
