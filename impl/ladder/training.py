"""Morning: train the model on a small text.

Every step has a batch of ragged lines, a loss, gradients, clipping, a learning rate and one update for each weight.
Some steps are odd: a line of two tokens, a batch without targets, overflowing gradients, steps past the planned end.
"""

from __future__ import annotations

from typing import Any

import torch
from ladder_model import Model
from torch import Tensor

TEXT = (
    "A cache keeps what was computed; a block shares what is common. 缓存记住算过的东西，分块共享相同的前缀。"
    "To keep is cheaper than to compute again. 记住比重算便宜。"
)
STEPS, WARMUP, PLAN = 70, 4, 64
MODES = ("topk_softmax", "softmax_topk", "sigmoid_bias")


def live(engine: Any) -> None:
    bytes_of_text = list(TEXT.encode())
    engine.alphabet = sorted(set(bytes_of_text))
    engine.text = [engine.alphabet.index(byte) for byte in bytes_of_text]
    engine.model = model = Model(engine.do, len(engine.alphabet))
    schedule(engine)
    first_pass(engine, model)
    states: dict[str, dict[str, Any]] = {name: {} for name in model.weights}
    for step in range(STEPS):
        train(engine, model, states, step)
    engine.say("weights", model.weights, tolerance=1e-5)
    engine.say("learned", [engine.losses[0], engine.losses[-1]], tolerance=1e-4)


def schedule(engine: Any) -> None:
    """Log the learning rates of three runs: today's, one without warm-up, and one that is nearly all warm-up."""
    do = engine.do
    for n, (peak, warmup, total, low) in enumerate([(0.04, WARMUP, PLAN, 0.003), (1.0, 0, 7, 0.0), (0.3, 5, 6, 0.1)]):
        engine.say("rates", [do.lr_at(step, peak, warmup, total, low) for step in range(total + 9)], n)
    engine.say("rates", do.lr_at(3, 0.5, 1, 9), 3)


def batch(engine: Any, step: int) -> tuple[Tensor, Tensor]:
    """Return four lines of the text (4, T) and the mask of their targets (4, T). Lines are padded with token 0; every
    third batch is full."""
    generator = torch.Generator().manual_seed(100 + step)
    rows, width = (1, 2) if step == 5 else (4, 17 + step % 4)
    ids, mask = torch.zeros(rows, width, dtype=torch.long), torch.zeros(rows, width)
    for row in range(rows):
        length = width if row == 0 or step % 3 == 2 else int(torch.randint(3, width + 1, (), generator=generator))
        place = int(torch.randint(0, len(engine.text) - length, (), generator=generator))
        ids[row, :length] = torch.tensor(engine.text[place : place + length])
        mask[row, :length] = 1
    return ids, torch.zeros_like(mask) if step == 7 else mask


def first_pass(engine: Any, model: Model) -> None:
    """Log each stage of one forward pass, and the first loss with each routing mode."""
    ids, mask = batch(engine, 0)
    model.hidden(ids, say=engine.say)
    whole = torch.tensor(engine.text[:130])[None]
    engine.say("first-loss", engine.do.lm_loss(model.logits(whole), whole), 5, tolerance=1e-6)
    for n, mode in enumerate(MODES):
        loss = engine.do.lm_loss(model.logits(ids, mode), ids, mask.bool())
        engine.say("first-loss", loss, n, tolerance=1e-6)


def train(engine: Any, model: Model, states: dict[str, dict[str, Any]], step: int) -> None:
    do, (ids, mask) = engine.do, batch(engine, step)
    leaves = {name: weight.detach().requires_grad_() for name, weight in model.weights.items()}
    model.weights = leaves
    z_coef = 1e-3 if step % 2 else 0.0
    given = None if step % 3 == 2 else mask.bool() if step % 3 else mask
    loss = do.lm_loss(model.logits(ids, MODES[step % 3]), ids, given, z_coef)
    found = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    grads = [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves.values(), found, strict=True)]
    engine.losses = [*(engine.losses if step else []), loss.item()]
    engine.say("loss", loss, step, tolerance=1e-5)
    engine.say("gradients", [g.norm() for g in grads], step, tolerance=1e-4)

    clipped, total = do.clip_grad_norm(grads, 0.5 if step % 2 else 50.0)
    engine.say("clipping", [total, *(g.norm() for g in clipped)], step, tolerance=1e-4)
    lr = do.lr_at(step, 0.04, WARMUP, PLAN, 0.003)
    betas = (0.8, 0.95) if step < 40 else (0.7, 0.9)
    updated, on_graph = {}, False
    for (name, leaf), g in zip(leaves.items(), clipped, strict=True):
        decay = 0.0 if leaf.dim() == 1 else 0.1
        updated[name] = do.adamw_step(leaf, g, states[name], lr, betas, eps=1e-4, weight_decay=decay)
        on_graph |= updated[name].requires_grad
    engine.say("update", [on_graph, *(weight.norm() for weight in updated.values())], step, tolerance=1e-5)
    model.weights = {name: weight.detach() for name, weight in updated.items()}
