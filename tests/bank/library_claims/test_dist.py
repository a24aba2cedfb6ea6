"""Run the claims of the `dist` cards about FLOP counts and sums in 16 bits."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from .conftest import says


def test_dist_12_torch_counts_6n_plus_12ldt_flops_per_token() -> None:
    says("dist-12", "6N + 12·L·d·T per token", "每 token 6N + 12·L·d·T")
    layers, width, length, hidden, vocabulary = 2, 16, 8, 64, 24
    shapes = [(width, width)] * 4 + [(width, hidden), (hidden, width)]
    blocks = [[torch.ones(shape, requires_grad=True) for shape in shapes] for _ in range(layers)]
    head = torch.ones(width, vocabulary, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        x = torch.ones(length, width, requires_grad=True)
        for w_q, w_k, w_v, w_o, w_1, w_2 in blocks:
            x = x + ((x @ w_q) @ (x @ w_k).T).softmax(-1) @ (x @ w_v) @ w_o
            x = x + (x @ w_1).relu() @ w_2
        (x @ head).sum().backward()
    weights = head.numel() + sum(weight.numel() for block in blocks for weight in block)
    assert counter.get_total_flops() == length * (6 * weights + 12 * layers * width * length)


def test_dist_01_bf16_has_8_significant_bits_and_scaling_first_does_not_help() -> None:
    says("dist-01", "sums in 8 significant bits lose small terms", "有效位只有 8 位，求和会丢小项")
    says("dist-01", "Scaling first does not help", "先缩放没有用")
    large, small = torch.tensor(256.0, dtype=torch.bfloat16), torch.tensor(1.0, dtype=torch.bfloat16)
    assert large + small == large
    assert large / 512 + small / 512 == large / 512
