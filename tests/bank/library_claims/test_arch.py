"""Run the claims of the arch cards about PyTorch; each test also checks the card's words."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from .conftest import drawn_float32 as drawn
from .conftest import says


def encoder_layer() -> nn.TransformerEncoderLayer:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()


def test_arch_05_a_decoder_layers_weights_do_not_fit_an_encoder_layer() -> None:
    says("arch-05", "`multihead_attn.*` and `norm3.*` are unexpected", "`multihead_attn.*` 和 `norm3.*` 是多余的键")
    weights = nn.TransformerDecoderLayer(16, 2, 32).state_dict()
    with pytest.raises(RuntimeError, match="Unexpected key"):
        encoder_layer().load_state_dict(weights)
    left = encoder_layer().load_state_dict(weights, strict=False)
    assert not left.missing_keys and {key.split(".")[0] for key in left.unexpected_keys} == {"multihead_attn", "norm3"}


def test_arch_05_a_gpt_block_is_an_encoder_layer_with_a_causal_mask() -> None:
    says("arch-05", "`nn.TransformerDecoderLayer` insists on a memory", "`nn.TransformerDecoderLayer` 必须传 memory")
    layer, x = encoder_layer(), drawn(0, 1, 5, 16)
    changed = torch.cat((x[:, :-1], drawn(1, 1, 1, 16)), dim=1)
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    assert torch.equal(layer(x, src_mask=causal)[:, :-1], layer(changed, src_mask=causal)[:, :-1])
    assert ((layer(x) - layer(changed)).abs().amax(-1) > 1e-4).all()
    with pytest.raises(TypeError, match="memory"):
        nn.TransformerDecoderLayer(16, 2, 32)(x)


def test_arch_07_sdpa_takes_the_triangle_from_the_upper_left() -> None:
    says("arch-07", "SDPA takes the triangle from the upper left", "SDPA 从左上角取三角")
    for sources in (3, 7):
        q, k, v = drawn(0, 1, 5, 8), drawn(1, 1, sources, 8), drawn(2, 1, sources, 8)
        masked = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(5, sources, dtype=torch.bool).tril())
        torch.testing.assert_close(F.scaled_dot_product_attention(q, k, v, is_causal=True), masked)


def test_arch_07_nan_in_masked_rows_reaches_the_output_and_large_numbers_do_not() -> None:
    says("arch-07", "weight 0 times a value of NaN is NaN", "权重 0 乘以 NaN 仍是 NaN")
    q, memory, visible = drawn(0, 1, 4, 8), drawn(1, 1, 6, 8), torch.arange(6) < 5
    large, undefined = memory.clone(), memory.clone()
    large[:, 5], undefined[:, 5] = 1e6, float("nan")
    weights = (q @ memory.mT).masked_fill(~visible, float("-inf")).softmax(-1)
    read = [weights @ values for values in (memory, large, undefined)]
    assert torch.equal(read[0], read[1]) and read[2].isnan().any()


def test_arch_10_expand_shares_the_storage_and_contiguous_copies_it() -> None:
    says("arch-10", "after `expand` the stride is 0 and the storage unchanged", "`expand` 之后步长为 0，存储大小不变")
    cache = drawn(0, 1, 2, 8, 4)
    beams = cache.expand(4, -1, -1, -1)
    assert beams.stride(0) == 0 and beams.untyped_storage().nbytes() == cache.untyped_storage().nbytes()
    assert beams.contiguous().untyped_storage().nbytes() == 4 * cache.untyped_storage().nbytes()


def test_arch_14_parameters_of_attention_and_of_bert() -> None:
    says("arch-14", "has 2,362,368 parameters for h = 1 and h = 12 alike", "2,362,368 个参数")
    for heads in (1, 12):
        assert parameters(nn.MultiheadAttention(768, heads, device="meta")) == 2_362_368
    says("arch-14", "109,482,240 and 335,141,888, to the last digit", "109,482,240 和 335,141,888，一个不差")
    for width, layers, wanted in ((768, 12, 109_482_240), (1024, 24, 335_141_888)):
        block = nn.TransformerEncoderLayer(width, width // 64, 4 * width, device="meta")
        once: list[nn.Module] = [nn.Embedding(rows, width, device="meta") for rows in (30522, 512, 2)]
        once += [nn.LayerNorm(width, device="meta"), nn.Linear(width, width, device="meta")]
        assert layers * parameters(block) + sum(parameters(module) for module in once) == wanted


def parameters(module: nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters())
