"""Models of torch modules with meaningful names; each parameter is filled with a number that identifies it."""

from __future__ import annotations

import math

import torch

GRADIENTS = False
HARDENED = {"edge_names_that_look_alike", "edge_shared_weights"}
_SIZES = {"Linear": (2, 3), "Embedding": (4, 2), "LayerNorm": (2,)}
_FROZEN = "frozen"


class Model:
    """A tree of modules, made from dotted names; `roles` maps each parameter's number to its name and kind."""

    def __init__(self, make):
        self.make, self.tree, self.roles = make, {}, {}

    def number(self, name, role):
        self.roles[len(self.roles) + 1] = name, role
        return float(len(self.roles))

    def add(self, name, kind, role):
        """One of torch's modules under a dotted name; `role` is B, E, other or frozen."""
        made = self.make.new(f"torch.nn.{kind}", *_SIZES[kind])
        biased = ["bias"] if kind != "Embedding" else []
        weight = {"Linear": (3, 2), "Embedding": (4, 2), "LayerNorm": (2,)}[kind]
        for part in ["weight", *biased]:
            shape = weight if part == "weight" else weight[:1]
            number = self.number(f"{name}.{part}", role)
            self.make.set(made, {part: self.make.keep(torch.full(shape, number))})
        if role == _FROZEN:
            self.make.compare(self.make.method(made, "requires_grad_", False), False)
        return self.place(name, made)

    def add_factors(self, name):
        """lora_A and lora_B as bare parameters."""
        roles = {"lora_A": "other", "lora_B": "B"}
        numbers = {part: self.number(f"{name}.{part}", role) for part, role in roles.items()}
        tensors = {part: self.make.keep(torch.full((2, 2), number)) for part, number in numbers.items()}
        return self.place(name, self.make.new("torch.nn.ParameterDict", tensors))

    def tie(self, name, to):
        """A second module that holds the weight of another one."""
        return self.place(name, self.make.new("torch.nn.ParameterDict", {"weight": self.make.read(to, "weight")}))

    def place(self, name, made):
        *path, last = name.split(".")
        node = self.tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = made
        return made

    def module(self, node=None):
        if not isinstance(node or self.tree, dict):
            return node
        parts = {name: self.module(child) for name, child in (node or self.tree).items()}
        return self.make.new("torch.nn.ModuleDict", parts)

    def asks(self, lr, **named):
        """Calls the entry for this model and looks at its groups."""
        groups = self.make.call("lora_plus_groups", self.module(), lr, **named)
        self.make.compare(groups, False)
        given = {"ratio": 16.0, "weight_decay": 0.0, "lr_embedding": None, **named}
        embedding = lr if given["lr_embedding"] is None else given["lr_embedding"]
        rates = {"B": lr * given["ratio"], "E": embedding, "other": lr}
        roles = self.roles
        self.make.property(lambda outcomes: complaint(outcomes[groups.step], roles, rates, given["weight_decay"]))


def complaint(groups, roles, rates, weight_decay):
    """Return a message about the first error in the returned groups, or None."""
    seen = {}
    if not isinstance(groups, list):
        return "the result is no list of groups", "返回的不是由参数组构成的列表"
    for group in groups:
        if not isinstance(group, dict) or not isinstance(group.get("params"), (list, tuple)):
            return "a group is no dict with a list `params`", "参数组不是含有列表 `params` 的 dict"
        if not all(isinstance(group.get(key), (int, float)) for key in ("lr", "weight_decay")):
            return "a group has no number under `lr` or `weight_decay`", "参数组里 `lr` 或 `weight_decay` 不是数"
        if not math.isclose(group["weight_decay"], weight_decay):
            found = f"{group['weight_decay']:g}"
            return (
                f"a group has weight_decay {found}, expected {weight_decay:g}",
                f"某组的 weight_decay 是 {found}，应为 {weight_decay:g}",
            )
        kinds = set()
        for parameter in group["params"]:
            name, role = roles.get(round(float(parameter.flatten()[0])), ("?", "?"))
            if role == _FROZEN:
                return f"{name} is frozen, and in a group", f"{name} 是冻结的，却进了参数组"
            if name in seen:
                return f"{name} is there twice", f"{name} 出现了两次"
            seen[name] = True
            kinds.add(role)
            if role in rates and not math.isclose(group["lr"], rates[role], abs_tol=1e-15):
                return (
                    f"{name} gets lr {group['lr']:g}, expected {rates[role]:g}",
                    f"{name} 的 lr 是 {group['lr']:g}，应为 {rates[role]:g}",
                )
        if len(kinds) > 1:
            return "B, embeddings and others share a group", "B、嵌入和其他参数混在了同一组"
    missing = [name for name, role in roles.values() if role != _FROZEN and name not in seen]
    return (f"{missing[0]} is in no group", f"{missing[0]} 不在任何一组里") if missing else None


def case(make):
    model = Model(make)
    if make.flag():
        model.add("wte", "Embedding", make.pick(["E", _FROZEN]))
    for layer in range(make.size(1, 3)):
        at = f"h.{layer}.q"
        base = make.pick([_FROZEN, "other"])
        if make.flag():
            model.add(f"{at}.base", "Linear", base)
            model.add(f"{at}.lora_A", "Linear", "other")
            model.add(f"{at}.lora_B", "Linear", "B")
        else:
            model.add_factors(at)
        model.add(f"h.{layer}.norm", "LayerNorm", make.pick(["other", _FROZEN]))
    rates = {"ratio": make.pick([4.0, 16.0, 1.0, 0.5]), "lr_embedding": make.pick([None, 1e-5, 0.3])}
    model.asks(make.pick([1e-3, 2e-4]), weight_decay=make.pick([0.1, 0.0]), **rates)


def edge_names_that_look_alike(make):
    """lora_B is a whole component of the name; lora_B_norm and my_lora_B are not it

    lora_B 必须是名字里完整的一段；lora_B_norm、my_lora_B 都不算
    """
    model = Model(make)
    for name in ("lora_B_norm", "my_lora_B", "loraXlora_B", "lora_A_norm"):
        model.add(name, "LayerNorm", "other")
    model.add("layer.lora_B.default", "Linear", "B")
    model.asks(1e-3)


def edge_names_of_other_pieces(make):
    """named adapters; B, lora_b and Attention, which are no adapters; adapters of an embedding

    适配器下面另有名字；B、lora_b、Attention 都不是适配器；嵌入的适配器
    """
    model = Model(make)
    for name in ("B", "lora_b", "Attention", "A"):
        model.add(name, "LayerNorm", "other")
    model.add("layer.lora_B.default", "Linear", "B")
    model.add("layer.lora_A.default", "Linear", "other")
    model.add("tokens.lora_A", "Embedding", "other")
    model.add("tokens.lora_B", "Embedding", "B")
    model.asks(1e-3, lr_embedding=0.5)


def edge_lr_embedding_of_zero(make):
    """lr_embedding = 0.0 is a rate; embeddings are known by their module, whatever they are called

    lr_embedding = 0.0 也是学习率；嵌入按模块类型认，不管叫什么名字
    """
    for rate in (0.0, 2e-5, None):
        model = Model(make)
        model.add("tokens", "Embedding", "E")
        model.add("embed_norm", "LayerNorm", "other")
        model.add("embedding_proj", "Linear", "other")
        model.add("embed.lora_B", "Linear", "B")
        model.asks(1e-3, lr_embedding=rate, weight_decay=0.01)


def edge_shared_weights(make):
    """a weight that two modules share counts once; one that an embedding shares counts as an embedding, in either order

    两个模块共享的权重只算一次；与嵌入共享的算嵌入，不管谁排在前面
    """
    for head_first in (True, False):
        model = Model(make)
        if head_first:
            model.tree["head"] = None
        wte = model.add("wte", "Embedding", "E")
        model.tie("head", wte)
        norm = model.add("norm", "LayerNorm", "other")
        model.place("again", norm)
        model.add("layer.lora_B", "Linear", "B")
        model.asks(1e-3, lr_embedding=0.1)


def edge_everything_trains_or_nothing(make):
    """no adapters at all, adapters alone, everything frozen

    完全没有适配器、只有适配器、全部冻结
    """
    for base, adapters in (("other", ()), (_FROZEN, ("lora_A", "lora_B")), (_FROZEN, ())):
        model = Model(make)
        model.add("base", "Linear", base)
        for name in adapters:
            model.add(f"layer.{name}", "Linear", "B" if name == "lora_B" else "other")
        model.asks(1e-3)
