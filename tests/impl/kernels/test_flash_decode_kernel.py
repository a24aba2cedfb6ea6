"""flash-decode-kernel: for every split of the keys, the result equals torch's own attention over all of them."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from ..conftest import IMPL, load

flash_decode = load(IMPL / "kernels/flash-decode-kernel/reference.py").flash_decode


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("splits", [1, 2, 4, 7, 12])
def test_any_number_of_splits_is_attention_over_all_keys(splits: int, groups: int, scale: float) -> None:
    q = torch.randn(2, 6, 4, dtype=torch.float64) * scale
    k, v = (torch.randn(2, groups, 7, 4, dtype=torch.float64) for _ in "kv")
    keys, values = (part.repeat_interleave(6 // groups, 1) for part in (k, v))
    due = scaled_dot_product_attention(q[:, :, None], keys, values)[:, :, 0]
    assert torch.allclose(flash_decode(q, k, v, splits), due, rtol=1e-10, atol=1e-10)


def test_one_key_is_its_value_in_sixteen_bits_too() -> None:
    q, k, v = (torch.randn(1, 1, *shape, dtype=torch.float16) for shape in ((3,), (1, 3), (1, 3)))
    assert torch.equal(flash_decode(q, k, v, 5), v[:, :, 0])
