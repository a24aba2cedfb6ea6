"""Noon: stress tests. Numbers as large as in a young or broken model, or at another scale."""

from __future__ import annotations

from typing import Any

import torch
from ladder_model import D
from torch import Tensor


def live(engine: Any) -> None:
    generator = torch.Generator().manual_seed(11)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    norms(engine, normal)
    table(engine)
    attention(engine, normal)
    networks(engine, normal)
    losses(engine, normal)
    clipping(engine, normal)
    optimiser(engine, normal)


def norms(engine: Any, normal: Any) -> None:
    """Normalise features far from zero, with small spread, or constant, of several ranks, with several eps."""
    do, w, b = engine.do, 1 + normal(7), normal(7)
    rows = [normal(3, 2, 7), normal(7), 1e-4 * normal(5, 7), normal(4, 7) * 50, torch.zeros(2, 7, dtype=torch.float64)]
    rows += [torch.cat([9 * torch.ones(1, 1), torch.zeros(1, 6)], 1).double() * 1e3, torch.ones(2, 7).double() * 3]
    for n, x in enumerate(rows):
        for eps in (1e-8, 1e-5, 1e-2, 1.0):
            engine.say("norms", [do.rms_norm(x, w, eps), do.layer_norm(x, w, b, eps)], n, tolerance=1e-8)
        engine.say("norms", [do.rms_norm(x, w), do.layer_norm(x, w, b)], 10 + n, tolerance=1e-8)
    long = 1 + normal(200)
    peak = torch.zeros(200, dtype=torch.float64)
    peak[3] = 1000.0
    engine.say("norms", [do.rms_norm(peak, long), do.layer_norm(peak, long, long)], 20)
    far = normal(6, 7) + torch.tensor([0.0, 1e4, -1e6, 1e7, 0.0, 1e6])[:, None]
    engine.say("norms-far-out", do.layer_norm(far, w, b), tolerance=1e-6)
    engine.say("norms-far-out", [do.layer_norm(row, w, b) for row in far], 1, tolerance=1e-6)
    for n, x in enumerate((normal(3, 7), normal(2, 3, 7) * 20)):
        leaves = [x.requires_grad_(), w.clone().requires_grad_(), b.clone().requires_grad_()]
        rms = (do.rms_norm(leaves[0], leaves[1], 1e-3) ** 3).sum()
        engine.say("norms-backward", torch.autograd.grad(rms, leaves[:2]), n)
        engine.say("norms-backward", torch.autograd.grad((do.layer_norm(*leaves) ** 3).sum(), leaves), 10 + n)


def table(engine: Any) -> None:
    """Look up rows often, never, and at both ends of the table, with and without scaling."""
    rows = torch.linspace(-1, 1, 5 * 3, dtype=torch.float64).view(5, 3)
    ids = torch.tensor([[0, 4, 4, 2], [4, 0, 1, 4]])
    weight = torch.arange(1.0, 25.0, dtype=torch.float64).view(2, 4, 3)
    for n, scale in enumerate((True, False)):
        leaf = rows.clone().requires_grad_()
        seen = engine.do.embed_tokens(ids, leaf, scale)
        engine.say("table", [seen, *torch.autograd.grad((seen * weight).sum(), [leaf])], n)
    engine.say("table", [engine.do.embed_tokens(ids[:1, :1], rows), engine.do.embed_tokens(ids, rows, scale=False)], 2)


def attention(engine: Any, normal: Any) -> None:
    """Attend with scores of ±200 and beyond, hidden keys with the greatest scores, and a single key."""
    q, k, v = 25 * normal(2, 6, 3, 4), 25 * normal(2, 2, 40, 4), normal(2, 2, 40, 4)
    engine.say("sharp-attention", engine.do.gqa(q, k, v, causal=True))
    k[:, :, -1] *= 40
    engine.say("sharp-attention", engine.do.gqa(q, k, v, True), 1)
    one = engine.do.gqa(q[:, :, :1], k[:, :, :1], v[:, :, :1], causal=True)
    engine.say("sharp-attention", one, 2)


def networks(engine: Any, normal: Any) -> None:
    """Use gates of ±1000, a single feature, no leading dimension, and a hidden width of one."""
    do, gate, up, down = engine.do, normal(4, 6), normal(4, 6), normal(6, 4)
    for n, (shape, size) in enumerate([((4,), 1.0), ((3, 4), 30.0), ((2, 1, 4), 400.0), ((5, 4), 1e-3)]):
        leaves = [(size * normal(*shape)).requires_grad_(), gate.requires_grad_(), up.requires_grad_(), down]
        seen = do.swiglu_ffn(*leaves)
        engine.say("gates", [seen, *torch.autograd.grad((seen * 1.5).sum(), leaves[:3])], n)
    engine.say("gates", do.swiglu_ffn(normal(2, 4), gate[:, :1], up[:, :1], down[:1]).detach(), 5)
    x, wide = normal(6, D), normal(D, 5)
    for n, mode in enumerate(("softmax_topk", "topk_softmax", "sigmoid_bias")):
        weights, chosen, probs = do.route((60 * x).float(), wide.float(), 3, mode)
        facts = chosen if mode == "topk_softmax" else "any"
        engine.say("steep-routes", [weights.double(), facts, probs], n, tolerance=1e-4)
    logits = torch.tensor([[900.0, 30.0, 40.0, 20.0, 35.0], [-900.0, 1.0, 0.0, 2.0, 900.0]], dtype=torch.float64)
    engine.say("steep-choice", do.route(logits, torch.eye(5).double(), 4, "topk_softmax")[1], 4)


def losses(engine: Any, normal: Any) -> None:
    """Compute losses for logits of ±10⁴, lines without a target, and masks of every kind."""
    do, ids = engine.do, torch.tensor([[1, 0, 3, 2, 2], [4, 4, 0, 1, 3]])
    masks: list[Any] = [None, torch.tensor([[1, 1, 0, 1, 0], [0, 1, 0, 0, 0]]), torch.zeros(2, 5), torch.ones(2, 5)]
    masks += [masks[1].bool(), masks[1].double(), torch.tensor([[1, 0, 0, 0, 0], [1, 0, 0, 0, 0]]).bool()]
    for size in (1.0, 300.0, 1e4):
        for n, mask in enumerate(masks):
            leaf = (size * normal(2, 5, 6)).requires_grad_()
            loss = do.lm_loss(leaf, ids, mask, 1e-4 if n % 2 else 0.0)
            engine.say("loud-loss", [loss, *torch.autograd.grad(loss * 2.5, [leaf])], n)
    engine.say("loud-loss", do.lm_loss(normal(1, 2, 4), torch.tensor([[3, 1]]), z_coef=0.5), 9)
    x, w = 100 * normal(9, 3), 100 * normal(7, 3)
    leaves = [x.requires_grad_(), w.requires_grad_()]
    loss = do.linear_cross_entropy(*leaves, torch.arange(9) % 7, 4)
    engine.say("loud-output-layer", [loss, *torch.autograd.grad(loss, leaves)])


def clipping(engine: Any, normal: Any) -> None:
    """Clip gradients: short, long, zero, infinite and NaN; also with a limit of 0."""
    given = [normal(3, 2), normal(), 3 * normal(5)]
    nothing = [torch.zeros_like(g) for g in given]
    broken = [[*given[:2], torch.tensor([1.0, float(word), 2.0]).double()] for word in ("inf", "nan", "-inf")]
    cases = [
        (given, 1.0),
        (given, 1e3),
        (given, 0.0),
        ([1e-4 * g for g in given], 1e-4),
        (nothing, 1.0),
        (given[1:2], 0.1),
    ]
    for n, (grads, limit) in enumerate([*cases, *((grads, 1.0) for grads in broken)]):
        clipped, total = engine.do.clip_grad_norm(grads, limit)
        engine.say("clipped", [total, len(clipped), *clipped], n, tolerance=1e-12)
    tiny = [1e-6 * g for g in given]
    engine.say("clipped", list(engine.do.clip_grad_norm(tiny, 1e-6)), 20)


def optimiser(engine: Any, normal: Any) -> None:
    """Update two weights thirty times: a gradient spike, then silence, a rate of 0, several betas, a noticeable ε."""
    weights = {"grid": normal(2, 3), "dot": normal()}
    states: dict[str, dict[str, Any]] = {name: {} for name in weights}
    for step in range(30):
        lr = 0.0 if step == 6 else 0.05 / (1 + step)
        betas = (0.9, 0.99) if step % 2 else (0.6, 0.9)
        for name in list(weights):
            if name == "dot" and step % 3 == 2:
                continue
            g = normal(*weights[name].shape) * (1e4 if step == 3 else 1e-3 if step < 9 else 0.0 if step > 26 else 1.0)
            weights[name] = engine.do.adamw_step(weights[name], g, states[name], lr, betas, 1e-3, weight_decay=0.3)
        engine.say("long-run", [*weights.values(), *states.values()], step, tolerance=1e-8)
    engine.say("long-run", engine.do.adamw_step(normal(3), normal(3), {}, 0.1), 50)
    still = engine.do.adamw_step(normal(3), torch.zeros(3).double(), {}, 0.1)
    engine.say("long-run", still, 51)
