"""Run the claims of the `flash` cards about torch."""

import math
import warnings

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import and_masks, create_block_mask, flex_attention
from torch.nn.functional import dropout, scaled_dot_product_attention

from .conftest import says


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def test_flash_02_normalising_after_each_block_is_exact_too() -> None:
    says("flash-02", "which is exact as long as the next block multiplies the old sum back in")
    q, k, v = drawn(8, 16).double() * 3, drawn(96, 16).double(), drawn(96, 16).double()
    m, total, o = torch.full((8, 1), -math.inf).double(), torch.zeros(8, 1).double(), torch.zeros(8, 16).double()
    for j in range(0, 96, 32):
        s = q @ k[j : j + 32].mT / 4
        m_new = torch.maximum(m, s.amax(1, keepdim=True))
        p = (s - m_new).exp()
        total_new = total * (m - m_new).exp() + p.sum(1, keepdim=True)
        o = (o * total * (m - m_new).exp() + p @ v[j : j + 32]) / total_new
        m, total = m_new, total_new
    torch.testing.assert_close(o, (q @ k.mT / 4).softmax(-1) @ v)


def test_flash_05_what_plain_attention_keeps_for_backward() -> None:
    says("flash-05", "The probabilities are kept for backward; with dropout so are its mask and the dropped copy")
    q, k, v = (drawn(2, 32, 8).requires_grad_() for _ in range(3))
    matrices = set()

    def keep(saved: Tensor) -> Tensor:
        if saved.shape[-2:] == (32, 32):
            matrices.add(saved.data_ptr())
        return saved

    for rate, kept in ((0.0, 1), (0.1, 3)):
        matrices.clear()
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda saved: saved):
            weights = (q @ k.mT / 8**0.5).softmax(-1)
            out = (dropout(weights, rate) if rate else weights) @ v
        assert out.requires_grad and len(matrices) == kept


def test_flash_11_tiles_of_the_block_mask() -> None:
    says("flash-11", "causal alone keeps 2,080; causal within documents 8 · 36 = 288")
    document = torch.arange(256) // 32

    def causal(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return q >= k

    def same(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        return document[q] == document[k]

    for mask, tiles in ((causal, 2080), (and_masks(causal, same), 288)):
        made = create_block_mask(mask, B=None, H=None, Q_LEN=256, KV_LEN=256, device="cpu", BLOCK_SIZE=4)
        assert made.full_kv_num_blocks is not None
        assert int(made.kv_num_blocks.sum() + made.full_kv_num_blocks.sum()) == tiles
    default = create_block_mask(causal, B=None, H=None, Q_LEN=128, KV_LEN=128, device="cpu")
    assert default.BLOCK_SIZE == (128, 128)


def test_flash_11_a_score_mod_of_minus_infinity_is_right_and_uncompiled_flex_materialises() -> None:
    says("flash-11", "returning −∞ there gives the right answer at full cost")
    says("flash-11", "falls back to a plain reference that materialises the scores")
    q, k, v = drawn(1, 2, 128, 16), drawn(1, 2, 128, 16).flip(-2), drawn(1, 2, 128, 16)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        out = flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: torch.where(i >= j, s, -math.inf))
    assert isinstance(out, Tensor)
    torch.testing.assert_close(out, scaled_dot_product_attention(q, k, v, is_causal=True))
