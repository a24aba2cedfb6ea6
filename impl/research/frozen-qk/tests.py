"""A small model with a twin that nothing is frozen in: frozen weights stay, all else takes the step of the twin."""

from collections import OrderedDict

import torch
from torch import nn
from torch.testing import assert_close

D = 4


class Fused(nn.Module):
    def forward(self, x):
        q, k, v = self.c_attn(x).chunk(3, -1)
        return x + self.c_proj((q @ k.mT).softmax(-1) @ v)


class Separate(nn.Module):
    def forward(self, x):
        scores = self.q_proj(x) @ self.k_proj(x).mT
        return x + self.c_proj(scores.softmax(-1) @ self.v_proj(x))


def fused(bias=True):
    module = Fused()
    module.c_attn, module.c_proj = nn.Linear(D, 3 * D, bias=bias), nn.Linear(D, D, bias=bias)
    return module


def separate(bias=True):
    module = Separate()
    for name in ("q_proj", "k_proj", "v_proj", "c_proj"):
        module.add_module(name, nn.Linear(D, D, bias=bias))
    return module


def mlp():
    parts = OrderedDict(c_fc=nn.Linear(D, 6), act=nn.Tanh(), norm=nn.LayerNorm(6), c_proj=nn.Linear(6, D))
    parts["deeper"] = nn.Sequential(nn.Linear(D, D))
    return nn.Sequential(parts)


def block(bias=True):
    return nn.Sequential(OrderedDict(ln=nn.LayerNorm(D), attn=fused(bias), other=separate(bias), mlp=mlp()))


def build(make=block):
    """Return a model and its twin, with equal values."""
    models = []
    for _ in range(2):
        torch.manual_seed(0)
        models.append(make())
    return models


def decoys():
    """Return layers whose names contain those of parts that are frozen."""
    names = ("old_q_proj", "k_proj_out", "my_c_attn", "c_attn2", "mlp_head", "pre_mlp")
    return nn.Sequential(OrderedDict((name, nn.Linear(D, D)) for name in names))


def whole():
    blocks = OrderedDict(first=block(), second=block(bias=False))
    return nn.Sequential(
        OrderedDict(embed=nn.Linear(D, D), blocks=nn.Sequential(blocks), near=decoys(), head=nn.Linear(D, D))
    )


def frozen_names(model, which):
    """Return the names of the weights that the statement freezes."""
    names = []
    for name, module in model.named_modules():
        path = name.split(".")
        chosen = path[-1] in ("q_proj", "k_proj", "c_attn") if which == "qk" else "mlp" in path[:-1]
        if chosen and isinstance(module, nn.Linear):
            names.append(name + ".weight")
    return names


def train(model, steps=3, adaptive=False, decay=0.0, rate=0.05):
    """Step as SGD does, or as AdamW without memory; like torch's optimizers, skip parameters that have no gradient."""
    torch.manual_seed(1)
    for _ in range(steps):
        model.zero_grad()
        model(torch.randn(2, 5, D)).square().sum().backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.requires_grad and p.grad is not None:
                    step = p.grad / (p.grad.abs() + 1e-8) if adaptive else p.grad
                    p -= rate * (step + decay * p)
    model(torch.randn(2, 5, D))
    return model


def values(model):
    """Return weights and biases as the modules have them after a call, by the names they had at first."""
    named = {}
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, nn.LayerNorm)):
            named[name + ".weight"] = module.weight.detach().clone()
            if module.bias is not None:
                named[name + ".bias"] = module.bias.detach().clone()
    return named


def rows_frozen(name, value):
    return 2 * D if "c_attn" in name else len(value)


def test_the_names_of_the_frozen_weights_are_returned(freeze_components):
    for which in ("qk", "mlp"):
        for make in (whole, block):
            model, twin = build(make)
            names = freeze_components(model, which)
            assert isinstance(names, list) and sorted(names) == sorted(frozen_names(twin, which))
            assert set(names) <= {name for name, _ in twin.named_parameters()}


def test_layers_at_the_top_of_the_model_are_found(freeze_components):
    for make, names in ((fused, ["c_attn.weight"]), (separate, ["k_proj.weight", "q_proj.weight"])):
        assert sorted(freeze_components(build(make)[0], "qk")) == names
        assert freeze_components(build(make)[0], "mlp") == []


def test_values_and_output_do_not_change(freeze_components):
    x = torch.randn(2, 5, D)
    for which in ("qk", "mlp"):
        model, twin = build(whole)
        freeze_components(model, which)
        assert torch.equal(model(x), twin(x))
        assert_close(values(model), values(twin), rtol=0, atol=0)


def test_frozen_weights_stay_under_any_optimizer(freeze_components):
    for which in ("qk", "mlp"):
        for adaptive in (False, True):
            model, twin = build(whole)
            before, names = values(twin), freeze_components(model, which)
            after = values(train(model, adaptive=adaptive, decay=0.3))
            for name, value in after.items():
                rows = rows_frozen(name, value) if name in names else 0
                assert torch.equal(value[:rows], before[name][:rows])
                assert rows == len(value) or not torch.equal(value[rows:], before[name][rows:])


def test_all_else_takes_the_step_that_it_would_have_taken(freeze_components):
    # After one step of SGD, the gradients can be read from the values.
    for which in ("qk", "mlp"):
        model, twin = build(whole)
        names = freeze_components(model, which)
        after = values(train(model, 1))
        for name, value in values(train(twin, 1)).items():
            rows = rows_frozen(name, value) if name in names else 0
            assert_close(after[name][rows:], value[rows:])


def test_biases_and_norms_train_on(freeze_components):
    for which in ("qk", "mlp"):
        model, twin = build(whole)
        freeze_components(model, which)
        trainable = {name for name, p in model.named_parameters() if p.requires_grad}
        for name, module in twin.named_modules():
            if isinstance(module, (nn.Linear, nn.LayerNorm)) and module.bias is not None:
                assert name + ".bias" in trainable
            if isinstance(module, nn.LayerNorm):
                assert name + ".weight" in trainable


def test_a_model_without_such_parts_is_left_alone(freeze_components):
    for which in ("qk", "mlp"):
        model, twin = build(lambda: nn.Sequential(OrderedDict(a=nn.Linear(D, D), c_proj=nn.Linear(D, D))))
        assert freeze_components(model, which) == []
        assert all(p.requires_grad for p in model.parameters())
        assert_close(values(train(model)), values(train(twin)))


def test_models_do_not_influence_each_other(freeze_components):
    model, twin = build(whole)
    freeze_components(model, "qk")
    before = values(twin)
    train(model)
    assert_close(values(twin), before, rtol=0, atol=0)
    assert all(p.requires_grad for p in twin.parameters())


def test_a_frozen_model_moves_to_another_device(freeze_components):
    for which in ("qk", "mlp"):
        model, _ = build(whole)
        freeze_components(model, which)
        out = model.to("meta")(torch.randn(2, 5, D, device="meta"))
        assert out.device.type == "meta"
