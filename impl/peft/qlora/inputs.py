"""Weights well inside the cells of their levels, so that no code depends on rounding; bytes before and after a forward."""

from __future__ import annotations

from itertools import product

import torch

AXES = {
    "weight": "out in",
    "x": "... in",
    "forward.return": "... out",
    "lora_A": "r in",
    "lora_B": "out r",
    "lora_A.return": "r in",
    "lora_B.return": "out r",
}
SIZES = {"out": (1, 5, 66), "half": (1, 4, 64), "r": (1, 3, 20)}
DERIVED = {"in": "2 * half"}
SIXTEEN_BITS = "native"
PROFILES = {check: ["ordinary"] for check in ("matches-reference", "gradients", "edge-cases")}  # A and B are float32
_LEVELS = [-1.0, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0.0]
_LEVELS += [0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1.0]


def absmaxima(make, count):
    """Between 0.5 and 2, none of which rounds to 8 bits near a tie."""
    while True:
        a = (0.5 + 1.5 * torch.rand(count, generator=make.random, dtype=torch.float64)).to(make.dtype).double()
        rest = a - a.mean()
        steps = rest / (rest.abs().max() / 127 if count > 1 else 1.0)
        if bool(((steps - steps.floor() - 0.5).abs() > 0.02).all()):
            return a


def quantisable(make, o, i, block, absmax=None):
    """Each number within 70 % of its level's cell, one of every block at ± its absmax."""
    levels = torch.tensor(_LEVELS, dtype=torch.float64)
    absmax = absmaxima(make, o * i // block) if absmax is None else absmax
    unit = torch.rand((len(absmax), block), generator=make.random, dtype=torch.float64) * 2 - 1
    nearest = levels[(unit[..., None] - levels).abs().argmin(-1)]
    unit = nearest + 0.7 * (unit - nearest)
    place = make.integers(0, block, len(absmax), 1)
    unit.scatter_(1, place, (make.integers(0, 2, len(absmax), 1) * 2 - 1).double())
    return make.keep((unit * absmax[:, None]).reshape(o, i))


def trained(make, weight, r, alpha, *options, **named):
    """A layer whose A and B have been trained."""
    lora = make.new("QLoRALinear", weight, r, alpha, *options, **named)
    o, i = weight.shape
    make.set(lora, {"lora_A": make.normal(r, i), "lora_B": make.normal(o, r)})
    return lora


def factors_alone(trainable):
    if sorted(name.removesuffix(".weight") for name in trainable) == ["lora_A", "lora_B"]:
        return None
    return f"trains {trainable}, not lora_A and lora_B alone", f"可训练的是 {trainable}，应当只有 lora_A、lora_B"


def case(make):
    o, i, r = make.sizes("out", "in", "r")
    block = make.pick([n for n in (6, 4, 2, 64, i, o * i, 16) if o * i % n == 0])
    alpha = make.pick([1.0, 2.0, 0.5, 5.0])
    options = make.pick([(block,), (block, False), (block, True)])
    if make.pick([False, False, True]) and make.dtype.itemsize > 2:
        one_step(make, quantisable(make, o, i, block), r, alpha, options)
        return
    lora = trained(make, quantisable(make, o, i, block), r, alpha, *options)
    make.judge(factors_alone, make.read(lora, "trainable"))
    make.method(lora, "forward", make.argument("x"))


def one_step(make, weight, r, alpha, options):
    """One step of gradient descent over all that trains: B leaves zero, the weight does not move."""
    lora = make.new("QLoRALinear", weight, r, alpha, *options)
    make.set(lora, {"lora_A": make.normal(r, weight.shape[1], grad=False)})
    parameters = make.read(lora, "parameters")
    make.compare(parameters, False)
    optimizer = make.new("torch.optim.SGD", parameters, lr=0.5, weight_decay=0.1)
    x = make.normal(3, weight.shape[1], grad=False)
    y = make.method(lora, "forward", x)
    make.method(make.method(make.method(y, "square"), "mean"), "backward")
    make.compare(make.method(optimizer, "step"), False)
    make.read(lora, "lora_A")
    make.read(lora, "lora_B")
    make.method(lora, "forward", x)


def edge_at_the_start(make):
    """a new layer gives x·Ŵᵀ: B = 0, A is random, the global generator is not reseeded

    刚建好的层输出 x·Ŵᵀ：B = 0，A 随机；不许重设全局随机种子
    """
    lora = make.new("QLoRALinear", quantisable(make, 8, 16, 64), 4, 8.0)
    make.method(lora, "forward", make.normal(4, 16))
    make.read(lora, "lora_B")
    make.judge(make.distinct, make.read(lora, "lora_A"))


def edge_either_side_of_every_midpoint(make):
    """the nearest level, on either side of every midpoint

    取最近的一级：每两级的中点两侧都试
    """
    levels = torch.tensor(_LEVELS, dtype=torch.float64)
    middle = (levels[1:] + levels[:-1]) / 2
    row = torch.cat([middle - 0.006, torch.tensor([1.0, -1.0]), middle + 0.006])
    for double_quant in (False, True):
        lora = trained(make, make.keep(row[None] * 0.5), 1, 1.0, 32, double_quant)
        make.method(lora, "forward", make.keep(torch.eye(32)))


def edge_zero_blocks_and_equal_ones(make):
    """a block of zeros, blocks of one absmax, a weight of zeros: no NaN

    全 0 的块、absmax 全都相等、整个权重为 0：都不能出 NaN
    """
    levels = (0.0, 1.0, 1.0, 0.5), (2.0, 2.0, 2.0, 2.0), (0.0, 0.0, 0.0, 0.0)
    for absmax, double_quant in product(levels, (True, False)):
        weight = quantisable(make, 2, 8, 4, torch.tensor(absmax, dtype=torch.float64))
        make.method(trained(make, weight, 2, 1.0, 4, double_quant), "forward", make.normal(2, 8))


def edge_one_block_outweighs_all(make):
    """absmax values of 128 and of 1: rounded to 8 bits the small ones are far off, their codes are not

    有的块 absmax 是 128，有的是 1：舍入到 8 位后小的偏差很大，但编码不受影响
    """
    weight = quantisable(make, 8, 12, 24, torch.tensor([128.0, 1.0, 1.25, 1.75], dtype=torch.float64))
    make.method(trained(make, weight, 1, 1.0, 24), "forward", make.normal(3, 12))


def edge_more_than_256_blocks(make):
    """600 blocks are three groups of at most 256, each with its own scale

    600 个块分成三组，每组至多 256 块，各有自己的缩放
    """
    steps = torch.cat([torch.arange(1, 128)[torch.randperm(127, generator=make.random)][:n] for n in (126, 126, 44)])
    steps[0], steps[126], steps[252] = 127, 127, 127
    sizes = torch.tensor([2.0**-8, 2.0**-12, 2.0**-10], dtype=torch.float64).repeat_interleave(
        torch.tensor([126, 126, 44])
    )
    rest = torch.stack([steps * sizes, -steps * sizes], dim=1)  # in pairs: their mean is 0
    rest = [rest[:126].flatten(), torch.zeros(4), rest[126:252].flatten(), torch.zeros(4), rest[252:].flatten()]
    absmax = 1.0 + torch.cat([part.double() for part in rest])
    weight = quantisable(make, 20, len(absmax) // 10, 2, absmax)
    make.method(trained(make, weight, 2, 1.0, 2), "forward", make.normal(3, weight.shape[1]))


def edge_one_mean_for_all_blocks(make):
    """512 blocks, the first 256 above the mean of all, the others below it

    512 块，前 256 块都高于总平均，后 256 块都低于它
    """
    steps = torch.cat([torch.arange(1, 52).repeat(5), torch.tensor([127])])  # one far from the mean of its group
    half = steps[torch.randperm(256, generator=make.random)].double() * 2.0**-8
    weight = quantisable(make, 16, 64, 2, 1.0 + torch.cat([half, -half]))
    make.method(trained(make, weight, 2, 1.0, 2), "forward", make.normal(3, weight.shape[1]))


def stored(double_quant, part, after):
    """Record what an n × n layer stores, before or after a forward."""

    def record(make, n):
        lora = make.new("QLoRALinear", make.normal(n, n, grad=False), 1, 1.0, double_quant=double_quant)
        if after:
            make.compare(make.method(lora, "forward", make.normal(2, n, grad=False)), False)
        make.compare(make.read(lora, part), False)

    return record


def bound(bits):
    return lambda n: bits / 8 * n * n + 8 * n + 256  # A and B of rank 1, a codebook


CONTRACTS = [
    {
        "check": "memory",
        "measure": "returned",
        "from_nothing": True,
        "case": stored(double_quant, part, after),
        "sizes": (128, 256, 384),
        "growth_at_most": 1.0,
        "bound": bound(4.13 if double_quant else 4.5),
        "says": {
            "en": f"the layer stores more than {4.13 if double_quant else 4.5} bits for each number of the weight",
            "zh": f"权重的每个数，层里存了不止 {4.13 if double_quant else 4.5} 位",
        },
    }
    for double_quant in (True, False)
    for part, after in (("__dict__", False), ("__dict__", True), ("state_dict", True))
]
