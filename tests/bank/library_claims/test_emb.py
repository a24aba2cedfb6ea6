"""Run the claims of the cards on tokens and embeddings about torch."""

from statistics import mean

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from .conftest import drawn, says


def test_emb_07_dense_adam_moves_a_row_long_after_its_token() -> None:
    says("emb-07", "gives a step of 3.16 lr", "这一个梯度就走 3.16 lr")
    says("emb-07", "31.8 lr in all with the default β", "默认 β 下一共 31.8 lr")
    says("emb-07", "0.45 and 5.8 lr", "则是 0.45 和 5.8 lr")
    for beta2, first, total in ((0.999, -3.16, -31.8), (0.95, -0.45, -5.8)):
        weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        adam = torch.optim.Adam([weight], lr=1.0, betas=(0.9, beta2))
        weight.grad = torch.zeros_like(weight)
        adam.step()
        adam.state[weight]["step"].fill_(100_000)
        weight.grad = torch.ones_like(weight)
        adam.step()
        assert weight.item() == pytest.approx(first, abs=0.005)
        weight.grad = torch.zeros_like(weight)
        for _ in range(200):
            adam.step()
        assert weight.item() == pytest.approx(total, abs=0.05)


def test_emb_07_a_lookup_is_one_hot_times_the_table_and_which_rows_get_a_gradient() -> None:
    says("emb-07", "same values as E[ids]", "与 E[ids] 的值相同")
    table, ids, upstream = drawn(0, 9, 4).requires_grad_(), torch.tensor([3, 1, 3, 8]), drawn(1, 4, 4)
    assert torch.equal(one_hot(ids, 9).double() @ table, table[ids])
    (gradient,) = torch.autograd.grad(table[ids], table, upstream)
    assert torch.allclose(gradient, torch.zeros(9, 4).double().index_add_(0, ids, upstream))
    says("emb-07", "padding_idx, whose row gets zeros in PyTorch", "padding_idx 除外（PyTorch 给它的梯度是零）")
    padded = nn.Embedding(6, 3, padding_idx=0)
    (gradient,) = torch.autograd.grad(padded(torch.tensor([0, 2, 2, 3])).sum(), padded.weight)
    assert gradient[:, 0].tolist() == [0, 0, 2, 1, 0, 0]
    says("emb-07", "an id that appears only in the last position, which has no label")
    says("emb-07", "只出现在末位、那里没有标签的 id")
    embedding, mixed = nn.Embedding(6, 4), torch.tensor([[1, 2, 2, 3]])
    mean_so_far = embedding(mixed)[0].cumsum(0) / torch.arange(1, 5)[:, None]
    loss = nn.functional.cross_entropy(nn.Linear(4, 6)(mean_so_far)[:-1], mixed[0, 1:])
    assert torch.autograd.grad(loss, embedding.weight)[0].any(1).nonzero().flatten().tolist() == [1, 2]


def test_emb_09_a_rotated_residual_stream_needs_rotated_writers() -> None:
    says("emb-09", "rotate all that is written to the stream", "各层写入残差流的内容一起旋转", "W_{out}\\\\to W_{out}R")
    stream, reader, writer = drawn(0, 5, 8), drawn(1, 8, 16), drawn(2, 16, 8)
    rotation = torch.linalg.qr(drawn(3, 8, 8)).Q

    def block(x: Tensor, read: Tensor, write: Tensor) -> Tensor:
        return x + (x @ read).relu() @ write

    wanted = block(stream, reader, writer)
    turned = block(stream @ rotation, rotation.T @ reader, writer @ rotation)
    assert torch.allclose(turned @ rotation.T, wanted)
    assert not torch.allclose(block(stream @ rotation, rotation.T @ reader, writer) @ rotation.T, wanted)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.emb = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.emb.weight


def test_emb_08_a_tied_weight_is_one_parameter_until_it_is_replaced() -> None:
    says("emb-08", "parameters() counts the tensor once", "parameters() 只算一次")
    says("emb-08", "state_dict() lists it under both names, with one data_ptr()", "state_dict() 里两个名字都在")
    model = Tied()
    state = model.state_dict()
    assert len(list(model.parameters())) == 1
    assert list(state) == ["emb.weight", "head.weight"]
    assert len({tensor.data_ptr() for tensor in state.values()}) == 1
    says("emb-08", "leaves the head with the old parameter, with the old shape", "输出头仍指着旧参数")
    model = Tied()
    model.emb = nn.Embedding(8, 3)
    assert model.head.weight is not model.emb.weight
    assert model.head.weight.shape == (5, 3)


def test_emb_08_the_head_pushes_rows_of_tokens_that_do_not_occur() -> None:
    says("emb-08", "moves its row away from h", "都把它的行推离 h")
    table, hidden = drawn(0, 7, 4).requires_grad_(), drawn(1, 4)
    loss = nn.functional.cross_entropy((hidden @ table.mT)[None], torch.tensor([2]))
    along = torch.autograd.grad(loss, table)[0] @ hidden
    assert [bool(step > 0) for step in along] == [row != 2 for row in range(7)]


def test_emb_09_a_feature_on_an_axis_loses_its_coordinate_in_a_rotation() -> None:
    says("emb-09", "with 64 dimensions its accuracy fell from 1.0 to 0.6", "单坐标准确率从 1.0 掉到 0.6")

    def best_coordinate(x: Tensor, label: Tensor) -> float:
        agreement = ((x > 0) == label[:, None]).double().mean(0)
        return float(torch.maximum(agreement, 1 - agreement).max())

    rotated = []
    for seed in range(20):
        x = drawn(seed, 1000, 64)
        label = x[:, 0] > 0
        assert best_coordinate(x, label) == 1.0
        rotated.append(best_coordinate(x @ torch.linalg.qr(drawn(100 + seed, 64, 64)).Q, label))
    assert mean(rotated) == pytest.approx(0.6, abs=0.03)


def test_emb_12_how_much_a_new_row_takes() -> None:
    says("emb-12", "shrinks by less than 0.001 % for each new row", "旧概率的降幅不到 0.001 %")
    hidden = drawn(1, 32)
    head = drawn(0, 1000, 32) * 0.3 - hidden * (12 / hidden.square().sum())
    logits = head @ hidden
    zeros, most_frequent = torch.zeros(32).double(), head[logits.argmax()]
    for new, at_most_one_row in ((head.mean(0), True), (zeros, False), (most_frequent, False)):
        grown = float(torch.logsumexp(torch.cat((logits, (new @ hidden)[None])), 0) - torch.logsumexp(logits, 0))
        assert (grown <= 1 / 1000) is at_most_one_row
