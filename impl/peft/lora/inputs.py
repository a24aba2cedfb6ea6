"""Layers before and after training, merged and unmerged in every order; dropout that shows which inputs it dropped."""

from __future__ import annotations

import torch

AXES = {
    "x": "... in",
    "forward.return": "... out",
    "lora_A": "r in",
    "lora_B": "out r",
    "lora_A.return": "r in",
    "lora_B.return": "out r",
    "base.weight.return": "out in",
    "base.bias.return": "out",
}
SIXTEEN_BITS = "native"
_LEADS = [(2,), (), (2, 3), (1, 2, 2)]


def linear(make, i, o, bias=True):
    """A base layer with weights of its own, which are constants. None is near 0, where merging would round it away."""
    base = make.new("torch.nn.Linear", i, o, bias=bias)
    sign = make.integers(0, 2, o, i) * 2 - 1
    values = {"weight": make.keep(sign * make.uniform(o, i, low=0.5, high=2.0, grad=False))}
    if bias:
        values["bias"] = make.normal(o, grad=False)
    make.set(base, values)
    return base


def adapted(make, i, o, r, alpha, bias=True, dropout=None, grad=True):
    """A layer whose A and B have been trained."""
    extra = () if dropout is None else (dropout,)
    lora = make.new("LoRALinear", linear(make, i, o, bias), r, alpha, *extra)
    set_factors(make, lora, i, o, r, grad)
    return lora


def set_factors(make, lora, i, o, r, grad=True):
    a, b = make.uniform(r, i, low=-1.0, grad=grad), make.uniform(o, r, low=-1.0, grad=grad)
    make.set(lora, {"lora_A": a, "lora_B": b})


def done(make, lora, name):
    """merge or unmerge: what it returns is nobody's business."""
    make.compare(make.method(lora, name), False)


def trains_the_factors_alone(make, lora):
    trainable = make.read(lora, "trainable")
    make.compare(trainable, False)

    def holds(outcomes):
        names = sorted(name.removesuffix(".weight") for name in outcomes[trainable.step])
        if names == ["lora_A", "lora_B"]:
            return None
        return (
            f"trains {', '.join(outcomes[trainable.step]) or 'nothing'}; lora_A and lora_B are to train, and nothing else",
            f"可训练的是 {', '.join(outcomes[trainable.step]) or '（无）'}；应当只有 lora_A 和 lora_B",
        )

    make.property(holds)


def case(make):
    i, o, r = make.size(1, 6), make.size(1, 5), make.size(1, 3)
    lead, bias, alpha = make.pick(_LEADS), make.flag(), make.pick([1.0, 2.0, 0.5, 5.0])
    kind = make.pick(["trained", "trained", "fresh", "merged", "there and back", "one step", "two layers"])
    if make.profile == "meta":
        every_method(make, adapted(make, i, o, r, alpha, bias), i, lead)
    elif kind == "fresh":
        make.method(make.new("LoRALinear", linear(make, i, o, bias), r, alpha), "forward", make.normal(*lead, i))
    elif kind == "trained":
        lora = adapted(make, i, o, r, alpha, bias, dropout=make.pick([None, 0.0, 0.5]))
        trains_the_factors_alone(make, lora)
        make.train(lora, False)
        make.method(lora, "forward", make.normal(*lead, i))
    elif kind == "merged" or make.profile in ("bf16", "fp16"):
        lora = adapted(make, i, o, r, alpha, bias, grad=False)
        done(make, lora, "merge")
        make.method(lora, "forward", make.normal(*lead, i))
        make.read(lora, "base.weight")
    elif kind == "there and back":
        there_and_back(make, i, o, r, alpha, lead)
    elif kind == "one step":
        one_step(make, i, o, r, alpha, bias)
    else:
        two_layers(make, i, o, r, alpha, lead)


def every_method(make, lora, i, lead):
    """For checks that draw few cases."""
    make.method(lora, "forward", make.normal(*lead, i))
    done(make, lora, "merge")
    make.method(lora, "forward", make.normal(*lead, i))
    done(make, lora, "unmerge")
    make.method(lora, "forward", make.normal(*lead, i))


def there_and_back(make, i, o, r, alpha, lead):
    """Merged, trained further, unmerged: the weight is what it was, and the new A and B count."""
    lora = adapted(make, i, o, r, alpha, make.flag(), grad=False)
    x = make.normal(*lead, i, grad=False)
    for _ in range(make.size(1, 2)):
        done(make, lora, "merge")
    make.method(lora, "forward", x)
    set_factors(make, lora, i, o, r, grad=False)
    for _ in range(make.size(1, 2)):
        done(make, lora, "unmerge")
    make.read(lora, "base.weight")
    make.method(lora, "forward", x)
    if make.flag():
        done(make, lora, "merge")
        make.read(lora, "base.weight")
        make.method(lora, "forward", x)
        trains_the_factors_alone(make, lora)


def one_step(make, i, o, r, alpha, bias):
    """One step of gradient descent over all that trains, from B as it starts and a given A."""
    lora = make.new("LoRALinear", linear(make, i, o, bias), r, alpha)
    make.set(lora, {"lora_A": make.normal(r, i, grad=False)})
    descend(make, lora, i)
    make.read(lora, "lora_A")
    make.read(lora, "lora_B")
    make.method(lora, "forward", make.normal(2, i, grad=False))


def descend(make, lora, i):
    parameters = make.read(lora, "parameters")
    make.compare(parameters, False)
    optimizer = make.new("torch.optim.SGD", parameters, lr=0.5, weight_decay=0.1)
    y = make.method(lora, "forward", make.normal(3, i, grad=False))
    backward_of_squares(make, y)
    make.compare(make.method(optimizer, "step"), False)
    make.read(lora, "base.weight")


def backward_of_squares(make, y):
    """The backward pass of Σy²: of a scalar, as handing torch a vector loads all of its symbolic algebra."""
    make.method(make.method(make.method(y, "square"), "sum"), "backward")


def two_layers(make, i, o, r, alpha, lead):
    """Two layers in turns: what one merges is not the other's."""
    first = adapted(make, i, o, r, alpha, grad=False)
    second = adapted(make, o, i, r, 2 * alpha, bias=False, grad=False)
    x = make.normal(*lead, i, grad=False)
    done(make, first, "merge")
    make.method(second, "forward", make.method(first, "forward", x))
    done(make, second, "merge")
    done(make, first, "unmerge")
    make.method(second, "forward", make.method(first, "forward", x))
    make.read(first, "base.weight")
    make.read(second, "base.weight")


def edge_at_the_start(make):
    """a new layer gives what its base gives: B = 0

    刚建好的层输出与 base 相同：B = 0
    """
    lora = make.new("LoRALinear", linear(make, 5, 3), 2, 8.0)
    make.method(lora, "forward", make.normal(4, 5))
    make.read(lora, "lora_B")
    make.read(lora, "base.weight")
    make.read(lora, "base.bias")


def edge_a_is_random(make):
    """A starts at random: with both at zero neither would ever move; the generator of others is not reset

    A 随机初始化：A、B 都为零就谁也动不了；不许重设全局随机种子
    """
    others = []
    for _ in range(2):
        lora = make.new("LoRALinear", linear(make, 7, 5), 4, 8.0)
        others.append(make.read(make.new("torch.nn.Linear", 7, 5), "weight"))
        make.compare(others[-1], False)
    a, b = make.read(lora, "lora_A"), make.read(lora, "lora_B")
    make.compare(a, False)
    trains_the_factors_alone(make, lora)

    def holds(outcomes):
        found, zeros = outcomes[a.step], outcomes[b.step]
        if found.shape != (4, 7) or found.dtype != zeros.dtype:
            return (
                f"lora_A has shape {list(found.shape)} and dtype {found.dtype}; (r, in) in the dtype of base is due",
                f"lora_A 的形状是 {list(found.shape)}，dtype 是 {found.dtype}；应为 (r, in)，dtype 与 base 相同",
            )
        if not bool(found.isfinite().all()) or float(found.abs().max()) == 0:
            return (
                "lora_A starts at zero (or not finite): then neither A nor B ever gets a gradient",
                "lora_A 初始为 0（或不是有限值）：这样 A 和 B 永远得不到梯度",
            )
        if torch.equal(*(outcomes[other.step] for other in others)):
            return (
                "layers made after it all start alike: it sets the seed of torch's global generator",
                "之后新建的层初始值全都一样：它给 torch 的全局随机数生成器设了种子",
            )
        if found.unique().numel() <= 20:
            return (
                "lora_A starts with equal entries: its rows would learn the same",
                "lora_A 的初始值彼此相同：各行学到的会一样",
            )
        return None

    make.property(holds)


def edge_first_step(make):
    """one training step from the very start: B moves, the base does not

    从初始状态走一步训练：B 动了，base 不动
    """
    lora = make.new("LoRALinear", linear(make, 4, 3), 2, 4.0)
    b = make.read(lora, "lora_B")
    descend(make, lora, 4)
    after = make.read(lora, "lora_B")
    make.compare(after, False)

    def holds(outcomes):
        moved = bool((outcomes[after.step] != outcomes[b.step]).any())
        return None if moved else ("one training step moved nothing", "走了一步训练，什么都没动")

    make.property(holds)


def edge_step_from_a_given_a(make):
    """one training step: B follows its gradient, A has none yet

    走一步训练：B 按梯度更新，A 此时还没有梯度
    """
    one_step(make, 3, 4, 2, 6.0, True)


def edge_frozen_without_gradient(make):
    """after a backward pass the base has no gradient

    反向传播之后，base 没有梯度
    """
    lora = adapted(make, 3, 2, 2, 1.0, grad=False)
    y = make.method(lora, "forward", make.normal(4, 3, grad=False))
    backward_of_squares(make, y)
    make.read(lora, "base.weight.grad")
    make.read(lora, "base.bias.grad")


def edge_rank_one(make):
    """r = 1, where α/r is α

    r = 1，此时 α/r 就是 α
    """
    make.method(adapted(make, 4, 3, 1, 3.0), "forward", make.normal(2, 4))


def edge_rank_of_the_layer(make):
    """r = min(in, out), and r above it

    r = min(in, out)，以及比它更大的 r
    """
    make.method(adapted(make, 4, 3, 3, 2.0), "forward", make.normal(2, 4))
    make.method(adapted(make, 2, 3, 5, 2.0), "forward", make.normal(2, 2))


def edge_one_input_one_output(make):
    """in = out = 1, without bias

    in = out = 1，没有偏置
    """
    make.method(adapted(make, 1, 1, 1, 2.0, bias=False), "forward", make.normal(3, 1))


def edge_no_bias(make):
    """a base without bias, a single vector

    base 没有偏置，输入是单个向量
    """
    make.method(adapted(make, 5, 2, 2, 4.0, bias=False), "forward", make.normal(5))


def edge_merged(make):
    """merged equals unmerged, and its gradient still reaches x

    合并前后结果相同，梯度仍能传到 x
    """
    lora = adapted(make, 5, 3, 2, 6.0, grad=False)
    done(make, lora, "merge")
    make.method(lora, "forward", make.normal(2, 4, 5))
    trains_the_factors_alone(make, lora)


def edge_merge_twice(make):
    """a second merge or unmerge does nothing, and neither does an unmerge before any merge

    重复 merge、重复 unmerge、没有 merge 就 unmerge，都什么也不做
    """
    lora = adapted(make, 4, 3, 2, 6.0, grad=False)
    x = make.normal(2, 4, grad=False)
    for name in ("unmerge", "merge", "merge", "merge", "unmerge", "unmerge", "merge"):
        done(make, lora, name)
        make.method(lora, "forward", x)
    make.read(lora, "base.weight")


def edge_trained_while_merged(make):
    """A and B changed while merged: unmerge takes away what this merge added, and the next one its own

    合并期间 A、B 变了：unmerge 减去这次 merge 加上的量，下一次也只减它自己的
    """
    lora = adapted(make, 4, 3, 2, 6.0, grad=False)
    for _ in range(2):
        done(make, lora, "merge")
        set_factors(make, lora, 4, 3, 2, grad=False)
        done(make, lora, "unmerge")
        make.read(lora, "base.weight")
    make.method(lora, "forward", make.normal(2, 4, grad=False))


def edge_base_is_kept(make):
    """`base` is the module that was given, not a copy; its weight is added to in place, and keeps what was loaded

    `base` 就是传入的模块，不是副本；更新量原地加进权重，后来加载的值不能丢
    """
    base = linear(make, 3, 4)
    weight = make.read(base, "weight")
    make.compare(weight, False)
    lora = make.new("LoRALinear", base, 2, 2.0)
    set_factors(make, lora, 3, 4, 2, grad=False)
    make.set(base, {"weight": make.normal(4, 3, grad=False)})
    make.method(lora, "forward", make.normal(2, 3, grad=False))
    for name in ("merge", "unmerge"):
        done(make, lora, name)
        make.read(base, "weight")
        make.method(weight, "clone")


def edge_dropout_spares_the_base(make):
    """dropout 0.9 in training with B = 0: the base path is whole

    训练模式，dropout 0.9，B = 0：主路看到完整的 x
    """
    lora = make.new("LoRALinear", linear(make, 6, 5), 2, 2.0, 0.9)
    make.train(lora, True)
    make.method(lora, "forward", make.normal(7, 6, grad=False))


def edge_dropout_rests_in_eval(make):
    """dropout 0.9 in eval: nothing is dropped

    评估模式，dropout 0.9：什么都不丢
    """
    lora = adapted(make, 4, 3, 2, 6.0, dropout=0.9)
    make.train(lora, False)
    make.method(lora, "forward", make.normal(3, 4))


def edge_two_layers(make):
    """two layers in turns, one inside the other's output

    两个层交替使用，一个的输出是另一个的输入
    """
    two_layers(make, 3, 4, 2, 2.0, (2,))


def edge_one_layer_used_twice(make):
    """the same layer on two inputs

    同一个层用在两个输入上
    """
    lora = adapted(make, 3, 3, 2, 2.0)
    make.method(lora, "forward", make.method(lora, "forward", make.normal(2, 3)))


_ROWS = 3000


def random(make):
    """One layer whose output spells out which of three inputs were dropped, in two copies."""
    p = make.pick([0.5, 0.2, 0.7])
    keep = 1 - p
    base = make.new("torch.nn.Linear", 3, 2)
    make.set(base, {"weight": make.keep(torch.zeros(2, 3)), "bias": make.keep(torch.zeros(2))})
    lora = make.new("LoRALinear", base, 2, 2.0, p)
    ones = torch.tensor([[1.0, 2.0, 4.0]]).expand(2, 3).contiguous()
    make.set(lora, {"lora_A": make.keep(ones), "lora_B": make.keep(torch.eye(2))})
    make.train(lora, True)
    y = make.method(lora, "forward", make.keep(torch.ones(_ROWS, 3)))
    make.compare(y, False)

    def holds(outcomes):
        out = outcomes[y.step].double() * keep
        if float((out[:, 0] - out[:, 1]).abs().max()) > 1e-3:
            return (
                "dropout acts on the input of A: all outputs see the same inputs dropped",
                "dropout 作用在 A 的输入上：所有输出看到的是同一批被丢掉的输入",
            )
        codes = out[:, 0].round()
        if float((out[:, 0] - codes).abs().max()) > 1e-3:
            return (
                "what is kept is to be scaled by 1/(1 − p)",
                "保留的要乘以 1/(1 − p)",
            )
        for bit in range(3):
            kept = float(((codes.long() >> bit) & 1).double().mean())
            if abs(kept - keep) > 6 * (p * keep / _ROWS) ** 0.5:
                return (
                    f"input {bit} is kept in {kept:.0%} of the rows, where 1 − p = {keep:.0%}",
                    f"1 − p = {keep:.0%}，输入 {bit} 却在 {kept:.0%} 的行里保留下来",
                )
        full = float((codes == 7).double().mean())
        if abs(full - keep**3) > 6 * (keep**3 * (1 - keep**3) / _ROWS) ** 0.5:
            return (
                "the inputs are not dropped independently",
                "各个输入不是相互独立地丢掉的",
            )
        return None

    make.property(holds)


# Width: in training, and the leading dimensions. No shortcut may multiply BA out in one of them.
_WIDTHS = {8: (False, (1,)), 32: (True, (3,)), 96: (False, (3,)), 192: (True, ()), 384: (False, ())}


def wide(make, n):
    lora = adapted(make, n, n, 2, 4.0, bias=False, grad=False)
    training, lead = _WIDTHS[n]
    make.train(lora, training)
    make.method(lora, "forward", make.normal(*lead, n, grad=False))


_HIGH_WIDTHS = (32, 64, 96)


def wide_at_high_rank(make, n):
    """Where r·(in + out) is more than in·out, BA would be the cheaper product."""
    lora = adapted(make, n, n, 5 * n // 8, 4.0, bias=False, grad=False)
    make.method(lora, "forward", make.normal(2, n, grad=False))


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": wide,
        "sizes": tuple(_WIDTHS),
        "growth_at_most": 1.0,
        "bound": lambda n: 8 * n,  # three rows of x, or a factor
        "says": {
            "en": "forward makes a tensor that grows with in × out, as if BA were multiplied out",
            "zh": "forward 里有张量随 in × out 增长，好像把 BA 乘出来了",
        },
    },
    {
        "check": "memory",
        "measure": "largest",
        "case": wide_at_high_rank,
        "sizes": _HIGH_WIDTHS,
        "growth_at_most": 1.0,
        "bound": lambda n: 0.8 * n * n,  # a factor is 0.625·n², BA is n²
        "says": {
            "en": "at a high rank forward makes a tensor of in × out elements: BA is multiplied out",
            "zh": "秩高的时候，forward 里出现了 in × out 个元素的张量：把 BA 乘出来了",
        },
    },
]
