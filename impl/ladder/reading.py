"""Before noon: the trained model reads prompts, whole and in chunks, near the start of a text and far from it.

A batch of prompts is ragged and each row has its own positions. A chunk of a prompt sees the chunks before it, and the
keys of a group are never copied for its queries.
"""

from __future__ import annotations

from typing import Any

import torch
from ladder_measure import Largest, LargestInside, Saved
from ladder_model import BLOCKS, EXPERTS, D, Model
from torch import Tensor


def live(engine: Any) -> None:
    model = engine.model
    ids = torch.tensor(engine.text[5:18])[None]
    whole(engine, model, ids)
    in_chunks(engine, model, ids)
    ragged_rows(engine, model)
    far_away(engine)
    shared_keys(engine)
    widths(engine)
    experts(engine, model)
    what_counts(engine, model)


def whole(engine: Any, model: Model, ids: Tensor) -> None:
    """Read whole prompts of 130, thirteen and one tokens. A future token must not influence earlier outputs."""
    for n, mode in enumerate(("topk_softmax", "softmax_topk", "sigmoid_bias")):
        engine.say("prompt", model.logits(ids, mode)[0, -1], n, tolerance=1e-5)
    engine.say("prompt", model.logits(ids[:, :1]), 3, tolerance=1e-5)
    engine.say("prompt", model.logits(ids, start=1000)[0, -1], 4, tolerance=1e-3)
    long = torch.tensor(engine.text[:130])[None]
    engine.say("prompt", model.logits(long)[0, -9:], 5, tolerance=1e-4)
    other = ids.clone()
    other[0, -1] = (other[0, -1] + 1) % model.vocabulary
    early = model.logits(ids)[0, :-1] - model.logits(other)[0, :-1]
    engine.say("future", early.abs().max() < 1e-9)


def in_chunks(engine: Any, model: Model, ids: Tensor) -> None:
    """Read chunks of 5, 1 and 7 tokens; each block keeps the keys and values of earlier chunks."""
    kept: dict[str, tuple[Tensor, Tensor]] = {}
    start = 0
    for n, size in enumerate((5, 1, 7)):
        positions = torch.arange(start, start + size)
        x = model.embedded(ids[:, start : start + size])
        for name in BLOCKS:
            q, k, v = model.projected(x, name, positions)
            if name in kept:
                k, v = torch.cat([kept[name][0], k], dim=2), torch.cat([kept[name][1], v], dim=2)
            kept[name] = (k, v)
            x = model.joined(x, name, engine.do.gqa(q, k, v, causal=True), "topk_softmax")
        engine.say("chunk", x, n, tolerance=1e-5)
        start += size


def ragged_rows(engine: Any, model: Model) -> None:
    """Read three left-padded rows; each counts from its own first token, so positions are (B, T)."""
    ids = torch.tensor(engine.text[:24]).view(3, 8)
    positions = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 1, 2, 3, 4], [40, 7, 9, 9, 8, 100, 3, 0]])
    x = model.embedded(ids)
    q, k, v = model.projected(x, "a", None)
    for n, layout in enumerate(("interleaved", "half")):
        turned = engine.do.apply_rope(q, positions, 100.0, layout=layout)
        heads = engine.do.gqa(turned, engine.do.apply_rope(k, positions, 100.0, layout), v)
        engine.say("ragged-rows", heads, n, tolerance=1e-5)
        engine.say("first-position", (turned - q)[:2, :, 0], n)
    wide = torch.linspace(-1, 1, 5 * 3 * 2 * 14, dtype=torch.float64).view(5, 3, 2, 14).requires_grad_()
    turned = engine.do.apply_rope(wide, torch.tensor([3, 1]))
    engine.say("turned", [turned, *torch.autograd.grad((turned**3).sum(), [wide])], tolerance=1e-6)


def far_away(engine: Any) -> None:
    """Check that scores depend on distance alone, also far from the start, for two bases."""
    q, k = (torch.linspace(-1, 2, 64, dtype=torch.float64).roll(n).view(1, 2, 2, 16) for n in (0, 9))
    for n, start in enumerate((0, 3, 7, 10_000, 70_001)):
        positions = torch.tensor([start, start + 5])
        base = 50.0 if n == 2 else 10_000.0
        turned = engine.do.apply_rope(q, positions, base), engine.do.apply_rope(k, positions, base)
        engine.say("distance", turned[0] @ turned[1].transpose(-2, -1), n, tolerance=2e-2 if start > 99 else 1e-5)


def shared_keys(engine: Any) -> None:
    """Let the query heads of a group share keys: few queries over many keys, no copy for each head."""
    for n, (queries, groups) in enumerate([(1, 2), (2, 2), (3, 4), (2, 1)]):
        generator = torch.Generator().manual_seed(n)
        made = [
            torch.randn(1, heads, length, 16, generator=generator, dtype=torch.float64)
            for heads, length in ((12, queries), (groups, 50), (groups, 50))
        ]
        with torch.no_grad(), Largest() as seen:
            heads = engine.do.bare.gqa(*made, causal=n != 2)
        engine.say("groups", heads, n)
        engine.say("copies", seen.numbers <= max(2 * made[1].numel(), 12 * queries * 50), n)
        leaves = [tensor.requires_grad_() for tensor in made]
        engine.say("groups-backward", torch.autograd.grad((engine.do.gqa(*leaves, True) ** 2).sum(), leaves), n, 1e-7)
    q, k = torch.ones(1, 6, 5, 4, dtype=torch.float64), torch.ones(1, 4, 5, 4, dtype=torch.float64)
    engine.refused("uneven-groups", ValueError, lambda: engine.do.gqa(q, k, k))
    engine.refused("short-past", ValueError, lambda: engine.do.gqa(q, k[:, :3, :4], k[:, :3, :4], causal=True))
    engine.say("short-past", engine.do.gqa(q, k[:, :3, :4], k[:, :3, :4]), 1)
    floats = [torch.ones(1, 2, 3, 4, dtype=torch.float32) for _ in range(3)]
    engine.say("groups", engine.do.gqa(*floats, causal=True), 9)


def widths(engine: Any) -> None:
    """Compute the hidden width of the dense network for several models."""
    asked = [
        (4096, 256),
        (1, 1),
        (3, 8),
        (12, 32),
        (12, 16),
        (768, 64),
        (100, 7),
        (96, 256),
        (97, 256),
        (10, 27),
        (10, 9),
    ]
    engine.say("widths", [engine.do.swiglu_hidden(wide, multiple) for wide, multiple in asked])
    engine.say("widths", [engine.do.swiglu_hidden(wide) for wide in (1, 96, 4096, 5000)], 1)


def experts(engine: Any, model: Model) -> None:
    """Call the router alone with every mode and several k; check which inputs get a gradient and which do not."""
    x = model.embedded(torch.tensor(engine.text[30:41])[None])[0].detach()
    for n, mode in enumerate(("topk_softmax", "softmax_topk", "sigmoid_bias")):
        for k in (1, 2, EXPERTS):
            leaves = [x.clone().requires_grad_(), model.weights["router"].clone().requires_grad_()]
            bias = model.bias.clone().requires_grad_()
            weights, chosen, probs = engine.do.route(*leaves, k, mode, bias if k > 1 else None)
            engine.say("routes", [weights, chosen, probs], 10 * n + k, tolerance=1e-6)
            score = (weights.square() * torch.arange(1, k + 1)).sum() + (probs[:, 0] ** 3).sum()
            found = torch.autograd.grad(score, [*leaves, bias], allow_unused=True)
            engine.say("router-learns", list(found[:2]), 10 * n + k, tolerance=1e-6)
            engine.say("bias-learns", found[2] is not None and bool(found[2].any()), 10 * n + k)
    many = torch.linspace(-1, 1, D * 9, dtype=torch.float64).sin().view(D, 9)
    for n, mode in enumerate(("topk_softmax", "softmax_topk", "sigmoid_bias")):
        engine.say("routes", list(engine.do.route(x, many, 9 - n % 2, mode)), 40 + n, tolerance=1e-6)
    for n, mode in enumerate(("softmax", "topk", "softmax_topk_renormalised", "sigmoid")):
        engine.refused("unknown-rule", ValueError, lambda mode=mode: engine.do.route(x, many, 2, mode), n)


def what_counts(engine: Any, model: Model) -> None:
    """Compute the loss of long lines without storing all logits; log the gradients of table and tokens."""
    do, hidden = engine.do, model.hidden(torch.tensor(engine.text[:70]).view(2, 35)).detach().reshape(70, D)
    targets = torch.tensor(engine.text[1:71])
    targets[[4, 9, 30]] = -100
    for n, (chunk, ignored) in enumerate([(1024, -100), (8, -100), (70, int(targets[2])), (1, -100), (9, 0)]):
        kept = targets if n != 2 else targets.where(targets >= 0, targets[2])
        kept = kept if n != 4 else kept.clamp(min=0)
        leaves = [hidden.clone().requires_grad_(), model.weights["table"].detach().clone().requires_grad_()]
        loss = do.linear_cross_entropy(*leaves, kept, chunk, ignore_index=ignored)
        engine.say("output-layer", [loss, *torch.autograd.grad(3.7 * loss, leaves)], n, tolerance=1e-4)
    for n, alone in enumerate((0, 1)):
        leaves = [hidden.clone(), model.weights["table"].detach().clone()]
        leaves[alone].requires_grad_()
        loss = do.linear_cross_entropy(*leaves, targets, 16)
        engine.say("output-layer", torch.autograd.grad(loss, [leaves[alone]]), 10 + n, tolerance=1e-4)
    leaves = [hidden.clone().requires_grad_(), model.weights["table"].detach().clone().requires_grad_()]
    nothing = do.linear_cross_entropy(*leaves, torch.full((70,), 3), 16, 3)
    engine.say("output-layer", [nothing, *torch.autograd.grad(nothing, leaves)], 20)
    memory_of_the_output_layer(engine)


def memory_of_the_output_layer(engine: Any) -> None:
    generator = torch.Generator().manual_seed(5)
    x, w = (torch.randn(n, 6, generator=generator, dtype=torch.float64).requires_grad_() for n in (160, 150))
    target = torch.randint(0, 150, (160,), generator=generator)
    with Saved() as saved, LargestInside() as forward:
        loss = engine.do.bare.linear_cross_entropy(x, w, target, 4)
    with LargestInside() as backward:
        torch.autograd.grad(loss, [x, w])
    few = 160 * 150 // 4
    engine.say("logits-at-once", [saved.numbers < few, forward.numbers < few, backward.numbers < few])
