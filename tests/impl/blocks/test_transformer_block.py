"""Compare the block with torch's own encoder layer, and check the laws of both norm orders."""

import pytest
import torch
from torch import Tensor, nn

from ..conftest import IMPL, load

block = load(IMPL / "blocks/transformer-block/reference.py").block


def parameters(D: int, hidden: int) -> dict[str, Tensor]:
    shapes = dict.fromkeys(("ln1_g", "ln1_b", "ln2_g", "ln2_b", "b2"), (D,))
    shapes |= dict.fromkeys(("wq", "wk", "wv", "wo"), (D, D))
    shapes |= {"w1": (D, hidden), "b1": (hidden,), "w2": (hidden, D)}
    return {name: torch.randn(shape, dtype=torch.float64) for name, shape in shapes.items()}


@pytest.mark.parametrize(("B", "T", "H", "d", "hidden"), [(1, 1, 1, 2, 1), (2, 4, 3, 2, 5), (1, 3, 1, 4, 9)])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("causal", [False, True])
def test_it_is_torchs(B: int, T: int, H: int, d: int, hidden: int, norm: str, causal: bool) -> None:
    D, p = H * d, parameters(H * d, hidden)
    layer = nn.TransformerEncoderLayer(
        D, H, hidden, 0.0, "gelu", batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    state = {"in_proj_weight": torch.cat([p[w].T for w in ("wq", "wk", "wv")]), "out_proj.weight": p["wo"].T}
    state = {f"self_attn.{name}": value for name, value in state.items()}
    state |= {"self_attn.in_proj_bias": torch.zeros(3 * D), "self_attn.out_proj.bias": torch.zeros(D)}
    state |= {f"norm{n}.{to}": p[f"ln{n}_{of}"] for n in (1, 2) for of, to in (("g", "weight"), ("b", "bias"))}
    state |= {f"linear{n}.{to}": p[f"{of}{n}"].T for n in (1, 2) for of, to in (("w", "weight"), ("b", "bias"))}
    layer.load_state_dict(state)
    x = torch.randn(B, T, D, dtype=torch.float64)
    hidden_keys = torch.ones(T, T, dtype=torch.bool).triu(1) if causal else None
    assert torch.allclose(block(x, p, H, norm, causal), layer(x, src_mask=hidden_keys), rtol=1e-9, atol=1e-11)


def test_silent_branches_leave_pre_norm_the_identity_and_post_norm_normalised() -> None:
    p, x = parameters(6, 5), torch.randn(2, 3, 6, dtype=torch.float64)
    p |= {name: torch.zeros_like(p[name]) for name in ("wo", "w2", "b2")}
    assert torch.equal(block(x, p, 2, "pre", True), x)
    p |= {"ln2_g": torch.ones(6).double(), "ln2_b": torch.zeros(6).double()}
    y = block(x, p, 2, "post", True)
    assert torch.allclose(y.mean(-1), torch.zeros(2, 3).double(), atol=1e-12)
    assert torch.allclose(y.var(-1, unbiased=False), torch.ones(2, 3).double(), rtol=1e-3)
