"""Run the claims of the `ffn` cards about torch."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, gelu, scaled_dot_product_attention, silu

from .conftest import drawn_float32 as drawn
from .conftest import says


def test_ffn_02_the_layout_and_the_count_of_linear() -> None:
    says("ffn-02", "nn.Linear stores W1 as (2048, 512)", "2,099,712")
    first, second = nn.Linear(512, 2048), nn.Linear(2048, 512)
    assert first.weight.shape == (2048, 512)
    assert sum(p.numel() for p in [*first.parameters(), *second.parameters()]) == 2_099_712


def test_ffn_05_the_two_forms_of_gelu_and_the_default() -> None:
    says("ffn-05", "each activation is off by at most 4.7e-4")
    x = torch.linspace(-6, 6, 24_001, dtype=torch.float64)
    exact = x * torch.special.ndtr(x)
    torch.testing.assert_close(gelu(x), exact)
    assert float((gelu(x, approximate="tanh") - exact).abs().max()) == pytest.approx(4.7e-4, abs=1e-5)
    assert float((x * torch.sigmoid(1.702 * x) - exact).abs().max()) == pytest.approx(0.02, abs=1e-3)


def test_ffn_09_the_stream_of_a_pre_norm_model_is_the_embedding_plus_what_was_written() -> None:
    says("ffn-09", "the stream before the final norm minus the embedding equals their sum")
    torch.manual_seed(0)
    written: list[Tensor] = []
    layers = nn.ModuleList(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, norm_first=True) for _ in range(2))
    for layer in layers:
        assert isinstance(layer, nn.TransformerEncoderLayer)
        layer.dropout1.register_forward_hook(lambda module, given, out: written.append(out))
        layer.dropout2.register_forward_hook(lambda module, given, out: written.append(out))
    stream = embedding = drawn(1, 5, 1, 16)
    for layer in layers:
        stream = layer(stream)
    torch.testing.assert_close(stream - embedding, torch.stack(written).sum(0), atol=1e-5, rtol=0)


def test_ffn_11_attention_gradients_of_one_token() -> None:
    says("ffn-11", "alone, its weight is 1, and W_Q and W_K get zero (a fused")
    weights = [nn.Parameter(drawn(n, 16, 16) / 4) for n in range(4)]
    for tokens, zeros in ((1, [1.0, 1.0, 0.0, 0.0]), (5, [0.0, 0.0, 0.0, 0.0])):
        x = drawn(9, tokens, 16)
        q, k, v = (x @ weight for weight in weights[:3])
        out = scaled_dot_product_attention(q[None], k[None], v[None])[0] @ weights[3]
        gradients = torch.autograd.grad(out[-1].square().sum(), weights)
        assert [float((gradient == 0).float().mean()) for gradient in gradients] == zeros


def test_ffn_11_thresholding_the_hidden_entries_of_swiglu() -> None:
    says("ffn-11", "a relative error of 9 % (L2), dropping 70 % one of 19 %, 90 % already 41 %")
    hidden = (silu(drawn(0, 200_000)) * drawn(1, 200_000)).abs().sort().values
    for share, error in ((0.5, 0.09), (0.7, 0.19), (0.9, 0.41)):
        assert float(hidden[: int(share * len(hidden))].norm() / hidden.norm()) == pytest.approx(error, abs=0.008)


def test_ffn_12_gate_and_up_exchanged() -> None:
    says("ffn-12", "about 58 % in norm, at a cosine per token of about 0.84")
    torch.manual_seed(0)
    gate, up, down = (nn.Linear(*shape, bias=False) for shape in ((64, 171), (64, 171), (171, 64)))
    x = drawn(2, 1024, 64)
    with torch.no_grad():
        right, wrong = down(silu(gate(x)) * up(x)), down(gate(x) * silu(up(x)))
    assert float((wrong - right).norm() / right.norm()) == pytest.approx(0.58, abs=0.02)
    assert float(cosine_similarity(wrong, right).mean()) == pytest.approx(0.84, abs=0.02)
