"""Small models whose groups are known by name, and what holds for any model: each trainable parameter is in one group, once."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn


class Adapted(nn.Module):
    """A linear layer with bare matrices beside it."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(4, 4).requires_grad_(False)
        self.lora_A, self.lora_B = nn.Parameter(torch.randn(2, 4)), nn.Parameter(torch.zeros(4, 2))


def nest(name, module):
    """A model that holds `module` under a dotted name."""
    for part in reversed(name.split(".")):
        module = nn.ModuleDict({part: module})
    return module


def language_model():
    return nn.ModuleDict(
        {
            "tokens": nn.Embedding(5, 4),
            "layers": nn.ModuleList([Adapted(), Adapted()]),
            "norm": nn.LayerNorm(4),
            "head": nn.Linear(4, 5),
        }
    )


def rates(model, groups):
    """The learning rate of each trainable parameter by name, after the checks that hold for any model."""
    listed = [parameter for group in groups for parameter in group["params"]]
    due = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert all(isinstance(group["params"], list) for group in groups)
    assert len(listed) == len(due)
    found = {}
    for name, parameter in due.items():
        (found[name],) = (group["lr"] for group in groups for member in group["params"] if member is parameter)
    return found


def rate_of(lora_plus_groups, name, module, **options):
    """The rates of a model with `module` under `name`: B's is 0.5, an embedding's 0.3, any other 0.1."""
    model = nest(name, module)
    found = rates(model, lora_plus_groups(model, 0.1, ratio=5.0, lr_embedding=0.3, **options))
    assert len(set(found.values())) == 1
    return found.popitem()[1]


def test_a_language_model_with_adapters(lora_plus_groups):
    model = language_model()
    found = rates(model, lora_plus_groups(model, 0.1, 4.0, 0.0, 0.01))
    for name, rate in found.items():
        assert rate == (0.4 if name.endswith("lora_B") else 0.01 if name == "tokens.weight" else 0.1)


def test_the_ratio_is_16_by_default_and_embeddings_learn_at_lr(lora_plus_groups):
    model = language_model()
    for name, rate in rates(model, lora_plus_groups(model, 0.25)).items():
        assert rate == (4.0 if name.endswith("lora_B") else 0.25)


@given(
    st.sampled_from([0.0, 1e-5, 0.3]),
    st.sampled_from([0.5, 1.0, 16.0]),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([None, 0.0, 1e-6]),
)
def test_any_rates(lora_plus_groups, lr, ratio, weight_decay, lr_embedding):
    model = language_model()
    groups = lora_plus_groups(model, lr, ratio, weight_decay, lr_embedding)
    for name, rate in rates(model, groups).items():
        embedding = lr if lr_embedding is None else lr_embedding
        assert rate == (ratio * lr if name.endswith("lora_B") else embedding if name == "tokens.weight" else lr)
    assert all(group["weight_decay"] == weight_decay for group in groups)


def test_b_and_embeddings_have_separate_groups_at_equal_rates(lora_plus_groups):
    model = language_model()
    for group in lora_plus_groups(model, 0.1, ratio=1.0):
        members = [name for name, p in model.named_parameters() if any(p is member for member in group["params"])]
        assert len({"B" if "lora_B" in name else "E" if "tokens" in name else "other" for name in members}) <= 1


def test_a_component_may_stand_anywhere_in_the_name(lora_plus_groups):
    for name in ("lora_B", "q.lora_B", "lora_B.default", "layers.0.attn.q.lora_B.default", "lora_B.inner.lora_x"):
        assert rate_of(lora_plus_groups, name, nn.Linear(2, 3)) == 0.5  # the bias as well
    for name in ("lora_A", "q.lora_A.default"):
        assert rate_of(lora_plus_groups, name, nn.Linear(2, 3)) == 0.1


def test_a_component_is_a_whole_part_of_the_name(lora_plus_groups):
    for name in ("lora_B_norm", "my_lora_B", "xlora_B.q", "lora_b", "lora_BB", "lora", "B"):
        assert rate_of(lora_plus_groups, name, nn.Linear(2, 3)) == 0.1


def test_an_embedding_is_known_by_its_module(lora_plus_groups):
    assert rate_of(lora_plus_groups, "table", nn.Embedding(4, 2)) == 0.3
    assert rate_of(lora_plus_groups, "embedding", nn.Linear(4, 2)) == 0.1
    assert rate_of(lora_plus_groups, "embed_tokens", nn.LayerNorm(4)) == 0.1


def test_the_names_of_lora_come_before_the_kind_of_module(lora_plus_groups):
    assert rate_of(lora_plus_groups, "wte.lora_B", nn.Embedding(4, 2)) == 0.5
    assert rate_of(lora_plus_groups, "wte.lora_A", nn.Embedding(4, 2)) == 0.1


def test_a_frozen_parameter_is_in_no_group(lora_plus_groups):
    model = language_model()
    model["tokens"].requires_grad_(False)
    model["layers"][0].lora_B.requires_grad_(False)
    assert rates(model, lora_plus_groups(model, 0.1, lr_embedding=0.3))["layers.1.lora_B"] == 0.1 * 16
    model.requires_grad_(False)
    assert not any(group["params"] for group in lora_plus_groups(model, 0.1))


def test_a_tied_weight_is_listed_once_as_an_embedding(lora_plus_groups):
    for first, second in (("tokens", "head"), ("head", "tokens")):
        modules = {"tokens": nn.Embedding(5, 4), "head": nn.Linear(4, 5, bias=False)}
        modules["head"].weight = modules["tokens"].weight
        model = nn.ModuleDict({first: modules[first], second: modules[second]})
        assert rates(model, lora_plus_groups(model, 0.1, lr_embedding=0.3)) == {f"{first}.weight": 0.3}


def test_the_model_stays_as_it_is(lora_plus_groups):
    model = language_model()
    before = [(name, p, p.detach().clone(), p.requires_grad) for name, p in model.named_parameters()]
    first, again = lora_plus_groups(model, 0.1), lora_plus_groups(model, 0.1)
    for (name, p), (old_name, old, value, trains) in zip(model.named_parameters(), before, strict=True):
        assert name == old_name and p is old and torch.equal(p, value) and p.requires_grad == trains
    first[0]["params"].clear()
    assert rates(model, again) == rates(model, lora_plus_groups(model, 0.1))


def test_torchs_optimisers_take_the_groups(lora_plus_groups):
    model = language_model()
    optimiser = torch.optim.AdamW(lora_plus_groups(model, 0.1, weight_decay=0.2))
    assert all(group["weight_decay"] == 0.2 for group in optimiser.param_groups)
