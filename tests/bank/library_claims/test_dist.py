"""What cards of `dist` say of DDP, FSDP2 and FLOP counts, run on CPU with two threads or a fake group."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch._C._distributed_c10d import HashStore
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard
from torch.nn.parallel import DistributedDataParallel
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from attncli.bank.loader import bank_files, load_file
from attncli.paths import bundled_quizbank

Says = Callable[[str, str, str], bool]
RANKS, WIDTH = 2, 4
WEIGHTS = WIDTH * WIDTH


@pytest.fixture(scope="module")
def says() -> Says:
    path = next(path for path in bank_files(bundled_quizbank()) if path.stem == "dist")
    texts = {document["id"]: str(document) for document in load_file(path).documents}
    return lambda card, english, chinese: english in texts[card] and chinese in texts[card]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The tensors are small: more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def gloo(store: Any, rank: int) -> dist.ProcessGroup:
    """A group of which both ranks are threads of this process."""
    group = dist.ProcessGroup(store, rank, RANKS)
    backend = dist.ProcessGroupGloo(store, rank, RANKS, timedelta(seconds=30))
    group._set_default_backend(dist.ProcessGroup.BackendType.GLOO)
    group._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO, backend)
    return group


def net(rank: int) -> nn.Module:
    """Three matrices, different on each rank, and a buffer."""
    module = nn.Sequential(*(nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3)))
    module.register_buffer("seen", torch.full((1,), float(rank)))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.eye(WIDTH) * (rank + 1))
    return module


def gradients(module: nn.Module, batch: Tensor) -> list[Tensor]:
    module.zero_grad()
    module(batch).sum().backward()
    return [parameter.grad.clone() for parameter in module.parameters() if parameter.grad is not None]


def on_rank(rank: int, store: Any, found: dict[int, dict[str, Any]]) -> None:
    module, batch = net(rank), torch.full((1, WIDTH), float(rank + 1))
    ddp = DistributedDataParallel(module, process_group=gloo(store, rank))
    seen = found[rank] = {
        "weights": [p.detach().clone() for p in module.parameters()],
        "buffer": module.get_buffer("seen").item(),
    }
    seen["synced"] = gradients(ddp, batch)
    with ddp.no_sync():
        seen["local"] = gradients(ddp, batch)


@pytest.fixture(scope="module")
def ranks() -> dict[int, dict[str, Any]]:
    """What each of two DDP ranks saw; rank 0 starts with the identity, rank 1 with twice that."""
    store, found = HashStore(), dict[int, dict[str, Any]]()
    threads = [threading.Thread(target=on_rank, args=(rank, store, found)) for rank in range(RANKS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(RANKS))
    return found


def test_dist_01_rank_0_broadcasts_parameters_and_buffers_at_construction(
    says: Says, ranks: dict[int, dict[str, Any]]
) -> None:
    assert says(
        "dist-01",
        "Rank 0 broadcasts parameters and buffers once at construction",
        "构造时 rank 0 把参数和 buffer 广播一次",
    )
    for rank in ranks.values():
        assert rank["buffer"] == 0
        assert all(torch.equal(weight, torch.eye(WIDTH)) for weight in rank["weights"])


def test_dist_01_no_sync_leaves_gradients_local(says: Says, ranks: dict[int, dict[str, Any]]) -> None:
    assert says("dist-01", "no_sync during accumulation", "累积期间 no_sync")
    for rank, seen in ranks.items():
        assert all(torch.equal(gradient, torch.full((WIDTH, WIDTH), rank + 1.0)) for gradient in seen["local"])


def test_dist_16_ddp_divides_the_summed_gradient_by_the_number_of_ranks(
    says: Says, ranks: dict[int, dict[str, Any]]
) -> None:
    assert says("dist-16", "sums the gradients and divides by the number of ranks", "把梯度求和再除以 rank 数")
    mean = sum(rank + 1 for rank in range(RANKS)) / RANKS
    for seen in ranks.values():
        assert all(torch.equal(gradient, torch.full((WIDTH, WIDTH), mean)) for gradient in seen["synced"])


class Collectives(TorchDispatchMode):
    """Records each collective and the elements of its largest tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "c10d":
            sizes = [leaf.numel() for leaf in tree_leaves(args) if isinstance(leaf, Tensor)]
            self.calls.append((func._opname.strip("_"), max(sizes)))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def eight_ranks() -> Iterator[None]:
    """A group whose collectives send nothing."""
    dist.init_process_group("fake", rank=0, world_size=8, store=FakeStore())
    yield
    dist.destroy_process_group()


def step(mesh_shape: tuple[int, ...], reshard: bool) -> tuple[nn.Sequential, list[tuple[str, int]]]:
    """One forward and backward of two sharded matrices of 16 × 16, and their collectives."""
    mesh = init_device_mesh("cpu", mesh_shape, mesh_dim_names=("replicate", "shard")[-len(mesh_shape) :])
    model = nn.Sequential(nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False))
    for layer in model:
        fully_shard(layer, mesh=mesh, reshard_after_forward=reshard)
    fully_shard(model, mesh=mesh)
    with Collectives() as collectives:
        model(torch.ones(3, 16)).sum().backward()
    return model, collectives.calls


def of_kind(calls: list[tuple[str, int]], kind: str) -> list[int]:
    return [elements for name, elements in calls if name.startswith(kind)]


@pytest.mark.usefixtures("eight_ranks")
@pytest.mark.parametrize(("reshard", "volume"), [(True, 3), (False, 2)])
def test_dist_04_fully_shard_gathers_twice_unless_weights_stay_after_forward(
    says: Says, reshard: bool, volume: int
) -> None:
    assert says("dist-04", "Per GPU about 3Ψ elements", "每卡约 3Ψ 个元素")
    assert says("dist-04", "(`reshard_after_forward=False`) gives 2Ψ", "（`reshard_after_forward=False`），通信降到 2Ψ")
    _, calls = step((8,), reshard)
    parameters = 2 * 16 * 16
    assert sum(of_kind(calls, "reduce_scatter")) == parameters
    assert sum(elements for _, elements in calls) == volume * parameters


@pytest.mark.usefixtures("eight_ranks")
def test_dist_04_fsdp2_shards_each_parameter_along_dim_0(says: Says) -> None:
    assert says("dist-04", "FSDP2 shards each parameter along dim 0", "FSDP2 把每个参数沿 dim 0 切成 DTensor")
    model, _ = step((8,), True)
    for parameter in model.parameters():
        assert isinstance(parameter, DTensor)
        assert parameter.placements == (Shard(0),)
        assert parameter.to_local().shape == (2, 16)


@pytest.mark.usefixtures("eight_ranks")
def test_dist_04_hybrid_sharding_all_reduces_only_the_shard_of_the_gradient(says: Says) -> None:
    assert says(
        "dist-04", "an all-reduce of each GPU's gradient shard crosses", "每卡对自己那份梯度分片做一次 all-reduce"
    )
    _, calls = step((2, 4), True)
    assert of_kind(calls, "reduce_scatter") == [256, 256]
    assert of_kind(calls, "allreduce") == [256 // 4, 256 // 4]


def test_dist_12_torch_counts_6n_plus_12ldt_flops_per_token(says: Says) -> None:
    assert says("dist-12", "6N + 12·L·d·T per token", "每 token 6N + 12·L·d·T")
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


def test_dist_01_bf16_has_8_significant_bits_and_scaling_first_does_not_help(says: Says) -> None:
    assert says("dist-01", "sums in 8 significant bits lose small terms", "有效位只有 8 位，求和会丢小项")
    assert says("dist-01", "Scaling first does not help", "先缩放没有用")
    large, small = torch.tensor(256.0, dtype=torch.bfloat16), torch.tensor(1.0, dtype=torch.bfloat16)
    assert large + small == large
    assert large / 512 + small / 512 == large / 512
