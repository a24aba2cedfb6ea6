"""Compare decoding with the final merge with plain attention over the whole cache."""

import pytest
import torch

from tests.impl.kernels.conftest import DEVICE, IMPL, kernel_of


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("B", "H", "G", "S", "d", "n_splits"), [(2, 6, 2, 45, 5, 2), (1, 3, 3, 3, 33, 5), (1, 1, 1, 1, 1, 1)]
)
def test_the_parts_merge_into_attention_over_the_whole_cache(B, H, G, S, d, n_splits, dtype):
    q = torch.randn(B, H, d, dtype=dtype, device=DEVICE) * 3
    k, v = (torch.randn(B, S, G, d, dtype=dtype, device=DEVICE).transpose(1, 2) for _ in "kv")
    out, lse = kernel_of(IMPL / "efficient/split-kv-decode").split_kv_decode(q, k, v, n_splits)
    keys, values = (x.double().repeat_interleave(H // G, dim=1) for x in (k, v))  # (B, H, S, d)
    scores = torch.einsum("bhd,bhsd->bhs", q.double(), keys) * d**-0.5
    due = torch.einsum("bhs,bhsd->bhd", scores.softmax(dim=-1), values)
    assert out.dtype == dtype and torch.allclose(out.double(), due, rtol=4 * torch.finfo(dtype).eps, atol=1e-6)
    assert torch.allclose(lse.double(), scores.logsumexp(dim=-1), rtol=1e-5, atol=1e-6)
