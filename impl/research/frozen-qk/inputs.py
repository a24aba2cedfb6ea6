"""Models out of named torch.nn pieces, frozen and then trained under weight decay."""

from __future__ import annotations

SIZES = {"B": (1, 3), "D": (1, 4), "F": (1, 4)}
GRADIENTS = False
_SGD, _ADAMW = {"lr": 0.05, "weight_decay": 0.5, "momentum": 0.5}, {"lr": 0.02, "weight_decay": 1.0, "eps": 1e-2}


def chain(make, **parts):
    """Modules one after the other under their names, and the full names of those that have weights."""
    made, found = make.new("torch.nn.Sequential"), {}
    for name, part in parts.items():
        module, inner = part if isinstance(part, tuple) else (part, None)
        make.method(made, "add_module", name, module)
        found |= {f"{name}.{key}": value for key, value in inner.items()} if inner is not None else {name: module}
    return made, found


def linear(make, i, o, bias=True):
    made = make.new("torch.nn.Linear", i, o, bias=bias)
    values = {"weight": make.normal(o, i, scale=i**-0.5, grad=False)}
    make.set(made, values | ({"bias": make.normal(o, scale=0.5, grad=False)} if bias else {}))
    return made, {"": bias}


def attention(make, D, kind, bias):
    if kind == "fused":
        return chain(make, c_attn=linear(make, D, 3 * D, bias), c_proj=linear(make, 3 * D, D, bias))
    names = ("q_proj", "k_proj", "v_proj", "o_proj")
    return chain(make, **{name: linear(make, D, D, bias) for name in names})


def block(make, D, F, kind, bias=True):
    """Not a Transformer's block, but one with its names, and every weight gets a gradient."""
    norm, squash = make.new("torch.nn.LayerNorm", D), make.new("torch.nn.Tanh")
    make.set(norm, {name: make.normal(D, mean=mean, grad=False) for name, mean in (("weight", 1.0), ("bias", 0.0))})
    up, down = linear(make, D, F, bias), linear(make, F, D, bias)
    mlp = chain(make, c_fc=up, act=(squash, {}), c_proj=down)
    return chain(make, ln=(norm, {"": True}), attn=attention(make, D, kind, bias), mlp=mlp)


def due(found, which):
    """The weights to be frozen, by name."""
    names = [name.rstrip(".") for name in found]
    if which == "mlp":
        return sorted(f"{name}.weight" for name in names if "mlp" in name.split("."))
    return sorted(f"{name}.weight" for name in names if name.split(".")[-1] in ("q_proj", "k_proj", "c_attn"))


def freeze(make, model, found, which):
    make.new("torch.nn.Sequential", model)  # what is given to a constructor may be shared: a model and its parts
    names = make.call("freeze_components", model, which)
    make.judge(lambda got: these(got, due(found, which)), names)


def these(got, names):
    if sorted(got) == names:
        return None
    return f"returned {got}, where {names} were frozen, in any order", f"返回了 {got}，冻结的应是 {names}（顺序不限）"


def read(make, model, found):
    for name, bias in found.items():
        for part in ("weight", *["bias"] * bias):
            make.read(model, f"{name.rstrip('.')}.{part}")


def train(make, model, found, x, steps, optimiser):
    """Steps over all that requires gradients by now; a last call, since a hook may restore what a step has moved."""
    kind, options = optimiser
    parameters = make.read(model, "parameters")
    make.compare(parameters, False)
    stepper = make.new(kind, parameters, **options)
    for _ in range(steps):
        y = make.method(model, "__call__", x)
        make.method(make.method(make.method(y, "square"), "sum"), "backward")
        for name in ("step", "zero_grad"):
            make.compare(make.method(stepper, name), False)
    make.method(model, "__call__", x)
    read(make, model, found)


def case(make):
    B, D, F = make.sizes("B", "D", "F")
    which, kind = make.pick(["qk", "mlp"]), make.pick(["fused", "apart"])
    blocks = chain(make, **{"0": block(make, D, F, kind, make.flag())})
    model, found = chain(make, blocks=blocks, head=linear(make, D, 2))
    x = make.normal(B, D, grad=False)
    freeze(make, model, found, which)
    read(make, model, found)
    optimiser = make.pick([("torch.optim.SGD", _SGD), ("torch.optim.AdamW", _ADAMW)])
    train(make, model, found, x, 1, optimiser)


def edge_ten_steps_with_decay(make):
    """two blocks, ten steps of AdamW with weight decay: frozen weights do not move

    两个 block，带权重衰减的 AdamW 走十步：被冻结的权重不变
    """
    for which in ("qk", "mlp"):
        model, found = chain(make, **{"0": block(make, 3, 4, "fused"), "1": block(make, 3, 4, "apart")})
        freeze(make, model, found, which)
        train(make, model, found, make.normal(5, 3, grad=False), 10, ("torch.optim.AdamW", _ADAMW))


def edge_the_top_is_a_block(make):
    """attention and mlp at the top of the model; both frozen one after the other; nothing there to freeze

    注意力和 mlp 就在模型顶层；先后冻结两者；没有可冻结的
    """
    model, found = block(make, 2, 3, "fused")
    x = make.normal(4, 2, grad=False)
    for which in ("qk", "mlp"):
        freeze(make, model, found, which)
    train(make, model, found, x, 2, ("torch.optim.SGD", _SGD))
    plain, found = chain(make, c_proj=linear(make, 2, 2), v_proj=linear(make, 2, 2))
    for which in ("qk", "mlp"):
        freeze(make, plain, found, which)
    train(make, plain, found, x, 1, ("torch.optim.SGD", _SGD))


def edge_names_alike(make):
    """mlp_head, premlp, q_proj_norm, seq_proj and my_c_attn are other modules; they train

    mlp_head、premlp、q_proj_norm、seq_proj、my_c_attn 是别的模块，照常训练
    """
    names = ("q_proj", "q_proj_norm", "seq_proj", "my_c_attn")
    inner = chain(make, **{name: linear(make, 2, 6 if name == "my_c_attn" else 2) for name in names})
    model, found = chain(make, body=inner, premlp=linear(make, 6, 3), mlp_head=linear(make, 3, 2))
    x = make.normal(4, 2, grad=False)
    for which in ("mlp", "qk"):
        freeze(make, model, found, which)
    train(make, model, found, x, 2, ("torch.optim.SGD", _SGD))
